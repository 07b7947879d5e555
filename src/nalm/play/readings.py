"""What is stored, read in a worker: runs, and the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nalm.errors import NalmError, check_choice
from nalm.experiment.describe import described_run, listed_runs
from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import kept_result
from nalm.play.asked import MOST_LISTED, Ledger, LedgerEntry, StoredRun, StoredRuns
from nalm.report.ledger_tab import entry_cells, ledger_text
from nalm.report.short_formula import with_few_digits

Tell = Callable[[str, Any], None]


def stored_runs(asked: StoredRuns, tell: Tell) -> dict[str, Any]:
    """The runs of a store in short; a store that does not exist has none."""
    runs, total = listed_runs(asked.store, MOST_LISTED) if asked.store.exists() else ([], 0)
    return {"runs": runs, "total": total}


def stored_run(asked: StoredRun, tell: Tell) -> dict[str, Any]:
    """One run with its curves, its weights and its formula."""
    run = described_run(asked.store, asked.id)
    return {**run, "expression": with_few_digits(run["expression"] or "")}


def ledger(asked: Ledger, tell: Tell) -> dict[str, Any]:
    """The entries of the ledger and what they say together."""
    return {name: part for name, part in ledger_text().items() if name in ("entries", "verdicts", "sentence")}


def ledger_entry(asked: LedgerEntry, tell: Tell) -> dict[str, Any]:
    """The cells of one entry."""
    result = kept_result(check_choice("id", asked.id, ENTRIES))
    if result is None:
        raise NalmError(f"{asked.id} has not been run yet: `nalm reproduce {asked.id}` runs it.")
    return {"id": asked.id, **entry_cells(result)}
