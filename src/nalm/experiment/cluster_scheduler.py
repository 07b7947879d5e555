"""The connection to a Dask scheduler: whether it answers, and which workers it has."""

from __future__ import annotations

import collections
import contextlib
import functools
import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from nalm.errors import ArgumentError, NalmError
from nalm.experiment.cluster_worker import ClusterError, check_facts, facts, facts_on_worker

PATIENCE, GRACE = 7, 2
"""Seconds to wait for a scheduler to answer, and further seconds for Dask to report that it does not."""
ANSWER = 30
"""Seconds to wait for the workers to send their facts."""
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://(\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):(\d{1,5})")


class Scheduler:
    """A scheduler that answers and has at least one worker; all its workers were checked.

    Args:
        address: its address, such as `tcp://host:8786`.
        say: called with a sentence about what is waited for.

    Attributes:
        address: as given.
        client: Dask's client.
    """

    def __init__(self, address: str, say: Callable[[str], None]) -> None:
        self.address = _checked(address)
        self._seen = (0.0, 0)
        self._say = say
        self.client = _connect(self.address)
        try:
            self._wait_for_workers()
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect; the scheduler drops what it still computes for this process."""
        with contextlib.suppress(Exception):  # it may be gone already
            self.client.close(timeout=2)

    @property
    def is_running(self) -> bool:
        """Whether this process is still connected to it."""
        return bool(self.client.status == "running")

    def check(self) -> None:
        """Raise an error if the connection is lost."""
        if not self.is_running:
            raise self.gone()

    def gone(self) -> ClusterError:
        """The error for a scheduler that no longer answers."""
        kept = "What was stored stays; the same command resumes from there."
        return ClusterError(f"The scheduler {self.address} is gone. {kept}")

    def count_workers(self) -> int:
        """The current number of workers."""
        try:
            found = len(self.client.nthreads())
        except Exception as error:
            raise self.gone() from error
        self._seen = (time.monotonic(), found)
        return found

    def known_workers(self) -> int:
        """The number of workers, requested at most every two seconds."""
        if time.monotonic() - self._seen[0] > 2:
            with contextlib.suppress(ClusterError):  # a lost connection is reported elsewhere
                self.count_workers()
        return self._seen[1]

    def _wait_for_workers(self) -> None:
        if self.count_workers():
            return
        start = f"dask worker {self.address} --nthreads 1"
        self._say(f"{self.address} has no workers yet; waiting. To start one: {start}")
        while not self.count_workers():
            time.sleep(0.5)

    def _check_workers(self) -> None:
        """Refuse workers whose numbers could differ from ours."""
        ask = functools.partial(self.client.run, facts_on_worker(), on_error="return")
        found = _within(ANSWER, ask)
        if found is None:
            late = "they are checked with their first chunk"
            self._say(f"Some workers of {self.address} did not answer within {ANSWER} seconds; {late}.")
            return
        if isinstance(found, Exception):
            raise self.gone() from found
        ours = facts()
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, Exception):
                raise ClusterError(f"Worker {worker} cannot be used: {type(theirs).__name__}: {theirs}.")
            check_facts(ours, theirs, worker)


def _checked(address: str) -> str:
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[3]) < 65536:
        raise ArgumentError("scheduler", "an address such as tcp://host:8786", repr(address))
    return address


def _connect(address: str) -> Any:
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise NalmError("A cluster needs Dask: pip install 'nalm[cluster]'.") from None
    # Errors are reported here in one sentence instead of logged, and large jobs are no reason to warn.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    found = _within(PATIENCE + GRACE, lambda: Client(address, timeout=PATIENCE, set_as_default=False))
    if found is None or isinstance(found, OSError):
        raise ClusterError(f"No Dask scheduler answers at {address} within {PATIENCE} seconds.")
    if isinstance(found, Exception):
        raise ClusterError(f"Cannot connect to {address}: {found}.")
    return found


def _within(seconds: float, ask: Callable[[], Any]) -> Any:
    """The answer or the error of `ask`; None if there is neither after `seconds`.

    It is called in a thread, because a stopped process, or one that is not Dask, may never answer.
    """
    found: collections.deque[Any] = collections.deque()

    def wait() -> None:
        try:
            found.append(ask())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else None
