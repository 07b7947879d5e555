"""Jobs on the workers of a Dask scheduler: handed out, collected, and given to another worker if one hangs.

A worker hangs if it sends no sign of life, or if a job takes many times as long as similar jobs. Its job is
then also given to an idle worker, and the first result counts: all workers compute the same bits. Dask
itself gives a worker's jobs to others only once the worker is gone, which takes minutes for a silent one.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

SILENT = 30.0
"""Seconds without a sign of life after which a worker counts as hung; workers send one every few seconds."""
LATE, LATE_AT_LEAST = 5.0, 60.0
"""A job counts as hung after LATE times the seconds of similar jobs, and not before LATE_AT_LEAST seconds."""
LOOK = 2.0
"""Seconds between two looks at the workers."""
_REMEMBERED = 100
"""The times of this many jobs of a kind are kept."""

Like = Callable[[int], tuple[Hashable, float]]
"""The kind of a job, by its index, and how much work it is."""


@dataclass
class Job:
    """One argument that is being computed.

    Attributes:
        index: its place among the arguments.
        argument: the argument, kept to be given to another worker.
        since: when it was last handed out.
        futures: Dask's futures of its copies: one, and one more for each time that a worker hung.
    """

    index: int
    argument: Any
    since: float
    futures: list[Any]


@dataclass
class Paces:
    """How long jobs took, by kind."""

    _known: defaultdict[Hashable, deque[float]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=_REMEMBERED))
    )

    def note(self, like: tuple[Hashable, float], seconds: float) -> None:
        """Note the seconds of a finished job."""
        kind, work = like
        self._known[kind].append(seconds / work)

    def expected(self, like: tuple[Hashable, float]) -> float | None:
        """The seconds that such a job takes; None before one of its kind has finished."""
        kind, work = like
        return statistics.median(self._known[kind]) * work if kind in self._known else None


class Jobs:
    """The jobs that the scheduler has at the moment.

    Args:
        client: Dask's client.
        function: what workers call.
        like: the kind and size of a job; None if jobs are not to be compared.
        say: called with a sentence if a worker hangs.
    """

    def __init__(
        self, client: Any, function: Callable[[Any], Any], like: Like | None, say: Callable[[str], None]
    ) -> None:
        self._client, self._function, self._like, self._hint = client, function, like, say
        self._jobs: dict[int, Job] = {}
        self._held: dict[Any, Job] = {}
        self._paces = Paces()
        self._looked = time.monotonic()
        self._told: set[Hashable] = set()

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def futures(self) -> list[Any]:
        """All copies of all jobs."""
        return list(self._held)

    def hand_out(self, arguments: Mapping[int, Any]) -> None:
        """Give jobs to the scheduler, which gives them to workers."""
        if not arguments:
            return
        # Not pure: equal arguments are separate jobs. Earlier jobs go first.
        options = {"pure": False, "priority": -min(arguments)}
        futures = self._client.map(self._function, list(arguments.values()), **options)
        now = time.monotonic()
        for (index, argument), future in zip(arguments.items(), futures):
            self._jobs[index] = self._held[future] = Job(index, argument, now, [future])

    def take(self, future: Any) -> int | None:
        """The index of a job if this is its first result; its other copies are dropped. Otherwise None."""
        job = self._held.get(future)
        if job is None:
            return None
        if self._like is not None and len(job.futures) == 1:
            self._paces.note(self._like(job.index), time.monotonic() - job.since)
        self._drop(job)
        return job.index

    def again(self, future: Any) -> None:
        """Compute a job again on another worker, because its worker has the result but does not send it."""
        job = self._held.pop(future, None)
        if job is not None:
            heard = [address for address, worker in self._workers().items() if worker.silence <= SILENT]
            job.futures.remove(future)
            future.release()
            self._give(job, heard)

    def release(self) -> None:
        """Drop all remaining jobs; workers drop those that they have not begun."""
        for job in list(self._jobs.values()):
            self._drop(job)

    def rescue(self) -> None:
        """Give the jobs of workers that hang to idle workers, one to each."""
        now = time.monotonic()
        soonest = SILENT if self._like is None else min(SILENT, LATE_AT_LEAST)
        if now - self._looked < LOOK or all(now - job.since < soonest for job in self._jobs.values()):
            return
        self._looked = now
        workers = self._workers()
        places = {key: address for address, worker in workers.items() for key in worker.keys}
        idle = [a for a, worker in workers.items() if not worker.keys and worker.silence <= SILENT]
        for job in list(self._jobs.values()):
            held_by = [places[future.key] for future in job.futures if future.key in places]
            reason = self._hangs(job, {address: workers[address] for address in held_by}, now)
            if reason is None:
                continue
            if idle:
                self._give(job, [idle.pop()])
                self._say((job.index, *held_by), f"{reason}; the chunk is also given to another worker.")
            else:
                self._say((*held_by, "alone"), f"{reason}; no other worker is free to take the chunk.")

    def _hangs(self, job: Job, held_by: Mapping[str, _Worker], now: float) -> str | None:
        """The reason to give a job to another worker; None if there is none."""
        if not held_by:
            return None  # it waits for a worker, or has finished
        if all(worker.silence > SILENT for worker in held_by.values()):
            address, worker = next(iter(held_by.items()))
            return f"Nothing was heard for {worker.silence:.0f} s from worker {address}, which has a chunk"
        expected = None if self._like is None else self._paces.expected(self._like(job.index))
        if expected is not None and now - job.since > max(LATE * expected, LATE_AT_LEAST):
            where = ", ".join(held_by)
            spent = now - job.since
            usual = f"similar ones took {expected:.0f} s"
            return f"Worker {where} has been computing a chunk for {spent:.0f} s, but {usual}"
        return None

    def _give(self, job: Job, workers: Collection[str]) -> None:
        # If all of these are gone by then, any other worker may take it.
        where = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        options = {"pure": False, "priority": -job.index, **where}
        future = self._client.submit(self._function, job.argument, **options)
        self._held[future] = job
        job.futures.append(future)
        job.since = time.monotonic()

    def _drop(self, job: Job) -> None:
        for future in job.futures:
            del self._held[future]
            future.release()
        del self._jobs[job.index]

    def _say(self, what: Hashable, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._hint(text)

    def _workers(self) -> dict[str, _Worker]:
        try:
            found = self._client.run_on_scheduler(_seen_by_scheduler())
        except Exception as error:
            if isinstance(error, OSError) or self._client.status != "running":
                return {}  # a scheduler that is gone is reported elsewhere
            raise
        return {address: _Worker(silence, frozenset(keys)) for address, (silence, keys) in found.items()}


@dataclass(frozen=True)
class _Worker:
    silence: float
    keys: frozenset[str]


def _seen_by_scheduler() -> Callable[..., dict[str, tuple[float, list[str]]]]:
    # A nested function is pickled by its code, not by its name, so that the scheduler needs no nalm.
    def on_scheduler(dask_scheduler: Any) -> dict[str, tuple[float, list[str]]]:
        from distributed.metrics import time as now

        return {
            address: (now() - worker.last_seen, [task.key for task in worker.processing])
            for address, worker in dask_scheduler.workers.items()
        }

    return on_scheduler
