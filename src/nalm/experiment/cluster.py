"""Compute chunks on a Dask cluster: workers on any number of machines, one scheduler, and this process.

Dask gives a chunk whose worker died to another; `jobs` does so for one that hangs. Chunks are handed to the
scheduler some at a time: it, and this process, hold little however many there are.
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
"""Seconds to wait for a worker to give a result that it has."""
_IN_FLIGHT, _PER_WORKER = 256, 4
"""Chunks at most that the scheduler knows at a time, where they are short: few enough to hold."""
_SHORT = 10
"""Chunks that a worker does in a second where they are short."""
_GLANCE = 0.01
"""Seconds between two looks at what is ready: nothing beside the work of a chunk."""


class Cluster:
    """The workers of a Dask scheduler; a context manager.

    Args:
        address: that of the scheduler, such as `tcp://host:8786`.
        say: is told what to wait for, and which worker hangs.
    """

    def __init__(self, address: str, say: Callable[[str], None] = lambda text: None) -> None:
        self._say = say
        self._scheduler = Scheduler(address, say)
        self._client = self._scheduler.client

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the scheduler; what it still computes for this process is dropped."""
        self._scheduler.close()

    @property
    def size(self) -> int:
        """The workers that there are now, one at least: it may be on its way."""
        return max(1, self._scheduler.count_workers())

    def compute(
        self,
        chunks: Sequence[Chunk],
        on_progress: OnProgress = lambda progress: None,
        checkpoints: Path | None = None,
    ) -> Iterator[list[Record]]:
        """The records of each chunk, in the order in which they are ready."""
        wanted = facts()
        progress = Progress(sum(chunk.run_steps for chunk in chunks), chunks=len(chunks), workers=self.size)
        jobs = (packed(chunk, wanted, checkpoints) for chunk in chunks)
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
                workers = max(1, self._scheduler.known_workers())
                # A chunk that waits behind a long one could be computed elsewhere: one for each worker. Short
                # ones are many, as many in one message cost little more than one.
                window = _IN_FLIGHT + _PER_WORKER * workers if wide else workers
                room = len(jobs) <= 0.75 * window if wide else len(jobs) < window
                if room and self._scheduler.is_running:
                    fresh = dict(itertools.islice(numbered, window - len(jobs)))
                    more = len(jobs) + len(fresh) == window
                    jobs.hand_out(fresh)
                yield from ready  # the next are on their way while the caller does something with these
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
                self._scheduler.check()
                idle()
                break
        return found

    def _results(self, futures: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Each with its result, in one message however many; errors as they are."""
        if any(future.status == "cancelled" for future in futures):
            raise self._scheduler.gone()
        if all(future.status == "finished" for future in futures):
            gather = functools.partial(self._client.gather, asynchronous=True)
            with contextlib.suppress(Exception):  # one by one it shows which of them it is
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
    """In place of a result that a worker has and does not give."""


def _like(chunk: Chunk) -> tuple[Hashable, float]:
    """Chunks that take about as long a step: of the same model, on as many inputs."""
    case = chunk.first
    return (str(case.model), case.hidden, case.task.name, case.task.in_features), chunk.run_steps


def _in_words(error: Exception, chunk: Chunk) -> NalmError:
    if isinstance(error, NalmError):
        return error
    case = chunk.first
    what = f"training {case.model} on {case.task.title}"
    if type(error).__name__ == "KilledWorker":
        return WorkerError(f"Several workers died {what}; their logs may say why.")
    return WorkerError(f"A worker failed {what}: {type(error).__name__}: {error}")
