"""Compute chunks on a Dask cluster: workers on any number of machines, one scheduler, and this process.

If a worker dies, Dask gives its chunk to another worker; if a worker hangs, `jobs` does. The scheduler gets
a few chunks at a time, so that it and this process hold little data for any number of chunks.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nalm.errors import NalmError
from nalm.experiment.cluster_scheduler import Scheduler
from nalm.experiment.cluster_worker import compute_on_worker, facts, packed, unpacked
from nalm.experiment.executor import OnProgress, Progress, WorkerError
from nalm.experiment.jobs import Jobs, Like
from nalm.experiment.plan import Chunk
from nalm.experiment.store import Record

FETCH = 60
"""Seconds to wait for a worker to send a finished result."""
_IN_FLIGHT, _PER_WORKER = 256, 4
"""The most short chunks that the scheduler gets at a time: a fixed number, and more per worker."""
_SHORT = 10
"""Chunks are short if a worker finishes more than this many per second."""
_GLANCE = 0.01
"""Seconds between two looks at what is ready: negligible compared with the work of a chunk."""


class Cluster:
    """The workers of a Dask scheduler; a context manager.

    Args:
        address: the scheduler's, such as `tcp://host:8786`.
        say: called with a sentence about what is waited for, or which worker hangs.
        device: where workers train.
    """

    def __init__(
        self, address: str, say: Callable[[str], None] = lambda text: None, device: str = "cpu"
    ) -> None:
        self._say, self._device = say, device
        self._scheduler = Scheduler(address, say)
        self._client = self._scheduler.client

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from the scheduler; it drops what it still computes for this process."""
        self._scheduler.close()

    @property
    def size(self) -> int:
        """The current number of workers, at least one: the first may still be starting."""
        return max(1, self._scheduler.count_workers())

    def compute(
        self,
        chunks: Sequence[Chunk],
        on_progress: OnProgress = lambda progress: None,
        checkpoints: Path | None = None,
    ) -> Iterator[list[Record]]:
        """The records of each chunk, as chunks finish."""
        wanted = facts()
        progress = Progress.of(chunks, workers=self.size)
        jobs = (packed(chunk, wanted, checkpoints, self._device) for chunk in chunks)
        idle = functools.partial(self._report_progress, progress, on_progress)
        for index, result in self.run(compute_on_worker(), jobs, idle, lambda k: _like(chunks[k])):
            if isinstance(result, Exception):
                raise _in_words(result, chunks[index])
            progress.chunks_done += 1
            progress.advance(progress.done + chunks[index].run_steps)
            yield unpacked(result)
            self._report_progress(progress, on_progress)

    def run(
        self,
        function: Callable[[Any], Any],
        arguments: Iterator[Any],
        idle: Callable[[], None],
        like: Like | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Yield the argument's index and the function's result or error for each argument, as they finish.

        Args:
            function: what workers call.
            arguments: any number; they are taken as workers need them.
            idle: called every second in which nothing finishes.
            like: the kind and size of each job, so that one that takes too long is noticed.
        """
        numbered = enumerate(arguments)
        jobs = Jobs(self._client, function, like, self._say)
        ready: list[tuple[int, Any]] = []
        wide, more, since, came = False, True, time.monotonic(), 0
        try:
            while True:
                workers = max(1, self._scheduler.known_workers())
                # Long chunks: one per worker, because a chunk that waits behind one could run elsewhere.
                # Short chunks: many, because many in one message cost little more than one.
                window = _IN_FLIGHT + _PER_WORKER * workers if wide else workers
                room = len(jobs) <= 0.75 * window if wide else len(jobs) < window
                if room and self._scheduler.is_running:
                    fresh = dict(itertools.islice(numbered, window - len(jobs)))
                    more = len(jobs) + len(fresh) == window
                    jobs.hand_out(fresh)
                yield from ready  # workers compute the next ones while the caller handles these
                ready = []
                if not jobs:
                    if not more:
                        return
                    self._scheduler.check()  # nothing could be handed out
                ready = self._ready(jobs, idle)
                came += len(ready)
                if (spent := time.monotonic() - since) > 1:
                    wide = came > _SHORT * workers * spent
                    since, came = time.monotonic(), 0
        finally:
            jobs.release()

    def _ready(self, jobs: Jobs, idle: Callable[[], None]) -> list[tuple[int, Any]]:
        """New results with their indices; errors come last, so that no result is lost to them."""
        found = []
        for future, result in self._results(self._finished(jobs.futures, idle)):
            if isinstance(result, _NotGiven):
                jobs.again(future)
            elif (index := jobs.take(future)) is not None:
                found.append((index, result))
        jobs.rescue()
        return sorted(found, key=lambda pair: isinstance(pair[1], Exception))

    def _finished(self, futures: Collection[Any], idle: Callable[[], None]) -> list[Any]:
        """All futures that are ready; none after a second without any, in which workers may have joined."""
        until = time.monotonic() + 1
        # Polling all of them costs less than a callback for each. One that is lost with its worker is
        # computed again.
        while not (found := [f for f in futures if f.status not in ("pending", "lost")]):
            time.sleep(_GLANCE)
            if time.monotonic() > until:
                self._scheduler.check()
                idle()
                break
        return found

    def _results(self, futures: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Each future with its result or its error; all are fetched in one message."""
        if any(future.status == "cancelled" for future in futures):
            raise self._scheduler.gone()
        if all(future.status == "finished" for future in futures):
            gather = functools.partial(self._client.gather, asynchronous=True)
            with contextlib.suppress(Exception):  # fetching one by one then shows which of them failed
                return list(zip(futures, self._client.sync(gather, list(futures), callback_timeout=FETCH)))
        return [(future, self._result(future)) for future in futures]

    def _result(self, future: Any) -> Any:
        try:
            return future.result(timeout=FETCH)
        except Exception as error:
            self._scheduler.check()
            given = future.status != "finished" or not isinstance(error, TimeoutError)
            return error if given else _NotGiven()

    def _report_progress(self, progress: Progress, on_progress: OnProgress) -> None:
        progress.workers = self._scheduler.known_workers()
        on_progress(progress)


class _NotGiven:
    """In place of a result that a worker has but does not send."""


def _like(chunk: Chunk) -> tuple[Hashable, float]:
    """The kind of a chunk, whose members take about as long per step, and its run-steps."""
    case = chunk.first
    return (str(case.model), case.hidden, case.task.name, case.task.in_features), chunk.run_steps


def _in_words(error: Exception, chunk: Chunk) -> NalmError:
    if isinstance(error, NalmError):
        return error
    case = chunk.first
    what = f"training {case.model} on {case.task.title}"
    if type(error).__name__ == "KilledWorker":
        return WorkerError(f"Several workers died while {what}; their logs may say why.")
    return WorkerError(f"A worker failed while {what}: {type(error).__name__}: {error}")
