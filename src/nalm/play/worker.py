"""A worker: a process that carries out what is asked for, one request after the other.

Its messages are pairs of a kind and plain data: "ready" once with what can be chosen, then for each request
any number of others and at the end "done" with the answer, or "refused" with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from nalm.errors import NalmError
from nalm.play.asked import Columns, Fitting, Ledger, LedgerEntry, StoredRun, StoredRuns, Training

END = ("done", "refused")
"""The kinds of messages that end a request."""


def work(connection: Connection) -> None:
    """The main function of a worker."""
    # Only here: the serving process imports this module too, and needs no torch.
    from nalm.play.fits import columns, fit
    from nalm.play.readings import ledger, ledger_entry, stored_run, stored_runs
    from nalm.play.trainings import choices, train

    carried_out: dict[type, Callable[..., dict[str, Any]]] = {
        Training: train,
        Columns: columns,
        Fitting: fit,
        StoredRuns: stored_runs,
        StoredRun: stored_run,
        Ledger: ledger,
        LedgerEntry: ledger_entry,
    }

    def tell(kind: str, what: Any) -> None:
        connection.send((kind, what))

    tell("ready", choices())
    while True:
        try:
            asked = connection.recv()
        except (EOFError, OSError):  # the serving process is gone
            return
        try:
            tell("done", carried_out[type(asked)](asked, tell))
        except NalmError as error:
            tell("refused", str(error))
        except OSError as error:
            tell(
                "refused",
                f"Cannot use {error.filename!r}: {error.strerror}." if error.filename else str(error),
            )
        except Exception as error:  # a fault of ours ends one request, not the page
            tell("refused", f"This failed unexpectedly: {type(error).__name__}: {error}")
