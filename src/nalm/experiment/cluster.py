"""Compute chunks on a Dask cluster: workers on any number of machines, one scheduler, and this process.

Chunks and records travel as bytes that only this process and the workers read, so that the scheduler needs
no nalm. Dask gives a chunk whose worker died to another; `jobs` does so for one that hangs. Chunks are handed
to the scheduler some at a time: it, and this process, hold little however many there are.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import logging
import pickle
import re
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any

from nalm._version import NUMERICS_VERSION
from nalm.errors import ArgumentError, NalmError
from nalm.experiment.jobs import Jobs, Like
from nalm.experiment.plan import Chunk
from nalm.experiment.store import Record
from nalm.experiment.workforce import Progress, Tell, WorkerError, portable

PATIENCE, GRACE = 7, 2
"""Seconds to wait for a scheduler to answer, and for Dask to notice that it does not."""
ANSWER, FETCH = 30, 60
"""Seconds to wait for the workers to say who they are, and for a worker to give a result that it has."""
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://(\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):(\d{1,5})")
_IN_FLIGHT, _PER_WORKER = 256, 4
"""Chunks at most that the scheduler knows at a time, where they are short: few enough to hold."""
_SHORT = 10
"""Chunks that a worker does in a second where they are short."""
_GLANCE = 0.01
"""Seconds between two looks at what is ready: nothing beside the work of a chunk."""


class ClusterError(NalmError):
    """A cluster that cannot be used, or is gone."""


class Cluster:
    """The workers of a Dask scheduler; a context manager.

    Args:
        address: that of the scheduler, such as `tcp://host:8786`.
        tell: is told what to wait for, and which worker hangs.
    """

    def __init__(self, address: str, tell: Callable[[str], None] = lambda text: None) -> None:
        self.address = _checked(address)
        self._seen = (0.0, 0)
        self._say = tell
        self._client = _connect(self.address)
        try:
            self._wait_for_workers()
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the scheduler; what it still computes for this process is dropped."""
        with contextlib.suppress(Exception):  # gone is gone
            self._client.close(timeout=2)

    @property
    def size(self) -> int:
        """The workers that there are now, one at least: it may be on its way."""
        return max(1, len(self._workers()))

    def compute(self, chunks: Sequence[Chunk], tell: Tell = lambda progress: None) -> Iterator[list[Record]]:
        """The records of each chunk, in the order in which they are ready."""
        wanted = facts()
        progress = Progress(sum(chunk.run_steps for chunk in chunks), chunks=len(chunks), workers=self.size)
        jobs = (pickle.dumps((wanted, pickle.dumps(chunk))) for chunk in chunks)
        idle = functools.partial(self._tell, progress, tell)
        for index, result in self.run(_compute_on_worker(), jobs, idle, lambda k: _like(chunks[k])):
            if isinstance(result, Exception):
                raise _in_words(result, chunks[index])
            progress.chunks_done += 1
            progress.advance(progress.done + chunks[index].run_steps)
            yield pickle.loads(result)
            self._tell(progress, tell)

    def run(
        self,
        function: Callable[[Any], Any],
        arguments: Iterator[Any],
        idle: Callable[[], None],
        like: Like | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """What the function gives for each argument, or its error, with the argument's place, as they come.

        Args:
            function: what workers call.
            arguments: as many as there are; they are taken as workers need them.
            idle: called every second in which nothing comes.
            like: what jobs are like, so that one that takes too long is noticed.
        """
        numbered = enumerate(arguments)
        jobs = Jobs(self._client, function, like, self._say)
        ready: list[tuple[int, Any]] = []
        wide, more, since, came = False, True, time.monotonic(), 0
        try:
            while True:
                workers = max(1, self._known_workers())
                # A chunk that waits behind a long one could be computed elsewhere: one for each worker. Short
                # ones are many, as many in one message cost little more than one.
                window = _IN_FLIGHT + _PER_WORKER * workers if wide else workers
                room = len(jobs) <= 0.75 * window if wide else len(jobs) < window
                if room and self._client.status == "running":
                    fresh = dict(itertools.islice(numbered, window - len(jobs)))
                    more = len(jobs) + len(fresh) == window
                    jobs.hand_out(fresh)
                yield from ready  # the next are on their way while the caller does something with these
                ready = []
                if not jobs:
                    if not more:
                        return
                    self._check_scheduler()  # nothing could be handed out
                ready = self._ready(jobs, idle)
                came += len(ready)
                if (spent := time.monotonic() - since) > 1:
                    wide = came > _SHORT * workers * spent
                    since, came = time.monotonic(), 0
        finally:
            jobs.release()

    def _ready(self, jobs: Jobs, idle: Callable[[], None]) -> list[tuple[int, Any]]:
        """What has come, each with its place, errors last: nothing is lost to them."""
        found = []
        for future, result in self._results(self._finished(jobs.futures, idle)):
            if isinstance(result, _NotGiven):
                jobs.again(future)
            elif (index := jobs.take(future)) is not None:
                found.append((index, result))
        jobs.rescue()
        return sorted(found, key=lambda pair: isinstance(pair[1], Exception))

    def _finished(self, futures: Collection[Any], idle: Callable[[], None]) -> list[Any]:
        """All that are ready; none after a second without any, in which workers may have come."""
        until = time.monotonic() + 1
        # Looking at all of them now and then costs less than being called for each. One that is lost with its
        # worker is computed again.
        while not (found := [f for f in futures if f.status not in ("pending", "lost")]):
            time.sleep(_GLANCE)
            if time.monotonic() > until:
                self._check_scheduler()
                idle()
                break
        return found

    def _results(self, futures: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Each with its result, in one message however many; errors as they are."""
        if any(future.status == "cancelled" for future in futures):
            raise self._gone()
        if all(future.status == "finished" for future in futures):
            gather = functools.partial(self._client.gather, asynchronous=True)
            with contextlib.suppress(Exception):  # one by one it shows which of them it is
                return list(zip(futures, self._client.sync(gather, list(futures), callback_timeout=FETCH)))
        return [(future, self._result(future)) for future in futures]

    def _result(self, future: Any) -> Any:
        try:
            return future.result(timeout=FETCH)
        except Exception as error:
            self._check_scheduler()
            given = future.status != "finished" or not isinstance(error, TimeoutError)
            return error if given else _NotGiven()

    def _tell(self, progress: Progress, tell: Tell) -> None:
        progress.workers = self._known_workers()
        tell(progress)

    # -- the cluster itself ----------------------------------------------------------------------

    def _workers(self) -> dict[str, int]:
        try:
            found: dict[str, int] = self._client.nthreads()
        except Exception as error:
            raise self._gone() from error
        self._seen = (time.monotonic(), len(found))
        return found

    def _known_workers(self) -> int:
        """How many workers there are, asked at most once in two seconds."""
        if time.monotonic() - self._seen[0] > 2:
            with contextlib.suppress(ClusterError):  # which is noticed where it matters
                self._workers()
        return self._seen[1]

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def _gone(self) -> ClusterError:
        kept = "What was stored stays; the same command resumes from there."
        return ClusterError(f"The scheduler {self.address} is gone. {kept}")

    def _wait_for_workers(self) -> None:
        if self._workers():
            return
        start = f"dask worker {self.address} --nthreads 1"
        self._say(f"{self.address} has no workers yet; waiting. To start one: {start}")
        while not self._workers():
            time.sleep(0.5)

    def _check_workers(self) -> None:
        """Refuse workers whose numbers could differ from ours."""
        ask = functools.partial(self._client.run, _facts_on_worker(), on_error="return")
        found = _within(ANSWER, ask)
        if found is None:
            late = "they are asked again with their first chunk"
            self._say(f"Some workers of {self.address} did not answer within {ANSWER} seconds; {late}.")
            return
        if isinstance(found, Exception):
            raise self._gone() from found
        ours = facts()
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, Exception):
                raise ClusterError(f"Worker {worker} cannot be used: {type(theirs).__name__}: {theirs}.")
            check_facts(ours, theirs, worker)


class _NotGiven:
    """In place of a result that a worker has and does not give."""


def _like(chunk: Chunk) -> tuple[Hashable, float]:
    """Chunks that take about as long a step: of the same model, on as many inputs."""
    cell = chunk.first
    return (str(cell.model), cell.hidden, cell.task.name, cell.task.in_features), chunk.run_steps


def facts() -> dict[str, Any]:
    """What a worker must have in common with the process that asks."""
    import torch

    return {
        "nalm numerics version": NUMERICS_VERSION,
        "torch version": torch.__version__,
        "CPU capability": torch.backends.cpu.get_cpu_capability(),
    }


def check_facts(ours: dict[str, Any], theirs: dict[str, Any], worker: str) -> None:
    """Refuse a worker that differs, naming both values."""
    apart = [
        f"its {name} is {theirs.get(name, 'unknown')}, here it is {value}"
        for name, value in ours.items()
        if theirs.get(name) != value
    ]
    if apart:
        raise ClusterError(f"Worker {worker} cannot be used: {'; '.join(apart)}.")


_ALONE = threading.Lock()
"""A process computes one chunk at a time, however many threads its worker has."""


def compute_packed(job: bytes, worker: str) -> bytes:
    """On a worker: the records of a chunk."""
    from nalm.experiment.compute import compute

    with _ALONE:
        wanted, chunk = pickle.loads(job)
        check_facts(wanted, facts(), worker)  # it may have come after the others were checked
        try:
            return pickle.dumps(compute(pickle.loads(chunk)))
        except Exception as error:
            raise portable(error) from None


def _compute_on_worker() -> Callable[[bytes], bytes]:
    # A function inside another travels by its code, not by its name: the scheduler can hold it without nalm.
    def on_worker(job: bytes) -> bytes:
        from distributed import get_worker

        address = get_worker().address
        try:
            from nalm.experiment import cluster
        except ImportError as error:
            raise RuntimeError(f"worker {address} cannot import nalm: {error}") from None
        return cluster.compute_packed(job, address)

    return on_worker


def _facts_on_worker() -> Callable[[], dict[str, Any]]:
    def on_worker() -> dict[str, Any]:
        from nalm.experiment import cluster

        return cluster.facts()

    return on_worker


def _in_words(error: Exception, chunk: Chunk) -> NalmError:
    if isinstance(error, NalmError):
        return error
    cell = chunk.first
    what = f"training {cell.model} on {cell.task.title}"
    if type(error).__name__ == "KilledWorker":
        return WorkerError(f"Several workers died {what}; their logs may say why.")
    return WorkerError(f"A worker failed {what}: {type(error).__name__}: {error}")


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
    # What they have to say is said here in one sentence; jobs are as large as they need to be.
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
    """The answer, or the error it ends with; None after so many seconds.

    In a thread: what takes the call but is stopped, or is no part of Dask, may never answer.
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
