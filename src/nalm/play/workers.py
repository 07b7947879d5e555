"""The workers of a page, and the jobs that they have: how many at once, for how long, and for whom."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from nalm.errors import NalmError
from nalm.experiment.process import start
from nalm.play.asked import Asked
from nalm.play.worker import END, work

MOST_JOBS = 2
"""How many jobs run at once, those of all pages together."""
SPARE = 2
"""How many idle workers are kept: they have imported everything, so that a job begins at once."""
_LOOK = 0.05
"""Seconds between two looks for an answer."""
Message = tuple[str, Any]


class Worker:
    """A worker process.

    Attributes:
        choices: what can be chosen on the page; None until the worker is ready.
    """

    def __init__(self) -> None:
        self._process, self._connection = start(work)
        self.choices: dict[str, Any] | None = None

    def wait(self) -> dict[str, Any]:
        """Wait until it is ready; return what can be chosen."""
        while self.choices is None:
            kind, what = self._connection.recv()
            if kind == "ready":
                self.choices = what
        return self.choices

    def ask(self, asked: Asked) -> None:
        """Give it a request; the answer comes as messages."""
        with contextlib.suppress(BrokenPipeError):  # `messages` notices a worker that died
            self._connection.send(asked)

    def messages(self) -> Iterator[Message]:
        """The messages that have come, without waiting for others."""
        try:
            while self._connection.poll():
                kind, what = self._connection.recv()
                if kind == "ready":
                    self.choices = what
                else:
                    yield kind, what
        except (EOFError, OSError):
            yield "refused", "The process that did this has died; perhaps the memory was not enough."

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return bool(self._process.is_alive())

    @property
    def process_id(self) -> int:
        """The number of its process."""
        return int(self._process.pid)

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._connection.close()


class Workers:
    """Idle workers; a context manager, at whose end no worker is left."""

    def __init__(self, spare: int = SPARE) -> None:
        self._spare = spare
        self._all: list[Worker] = []
        self._idle: list[Worker] = []
        self.fill()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._all:
            worker.end()

    def __len__(self) -> int:
        return len(self._all)

    def wait(self) -> dict[str, Any]:
        """Wait until the first worker is ready; return what can be chosen."""
        return self._idle[0].wait()

    def take(self) -> Worker:
        """An idle worker, if possible one that is ready."""
        for worker in self._idle:
            list(worker.messages())  # perhaps that it is ready
        ready = [w for w in self._idle if w.is_alive and w.choices is not None]
        taken = next(iter(ready or [w for w in self._idle if w.is_alive]), None)
        if taken is None:
            return self._start()
        self._idle.remove(taken)
        return taken

    def give_back(self, worker: Worker) -> None:
        """Keep a worker that has finished, unless there are enough."""
        if worker.is_alive and len(self._idle) < self._spare:
            self._idle.insert(0, worker)  # it has compiled programs in its memory
        else:
            self.end(worker)

    def end(self, worker: Worker) -> None:
        """End a worker, and start another if too few are idle."""
        worker.end()
        self._all.remove(worker)
        self.fill()

    def fill(self) -> None:
        """Start workers until enough are idle."""
        self._idle = [worker for worker in self._idle if worker.is_alive]
        while len(self._idle) < self._spare:
            self._idle.append(self._start())

    def _start(self) -> Worker:
        worker = Worker()
        self._all.append(worker)
        return worker


class Job:
    """One or two requests that run at the same time, each on its own worker.

    Args:
        owner: the page that asks.
        asked: the requests.
        workers: where workers come from.
    """

    def __init__(self, owner: str, asked: Sequence[Asked], workers: Workers) -> None:
        self.owner = owner
        self._workers = workers
        self._limit = max(each.limit for each in asked)
        self._ends = time.monotonic() + self._limit
        self._held: dict[int, Worker] = {}
        for side, each in enumerate(asked):
            self._held[side] = workers.take()
            self._held[side].ask(each)

    @property
    def is_over(self) -> bool:
        """Whether all its requests have ended."""
        return not self._held

    @property
    def process_ids(self) -> list[int]:
        """The numbers of the processes that are still at work."""
        return [worker.process_id for worker in self._held.values()]

    def messages(self) -> Iterator[tuple[int, Message]]:
        """What has come since the last call, with the index of the request that it belongs to."""
        for side, worker in list(self._held.items()):
            for message in worker.messages():
                if message[0] not in END:
                    yield side, message
                    continue
                self._workers.give_back(self._held.pop(side))
                yield side, message
                break
        if time.monotonic() > self._ends:
            for side in list(self._held):
                yield side, ("refused", f"This took longer than {self._limit:.0f} s and was ended.")
            self.stop()

    def stop(self) -> None:
        """End what is still running, at once."""
        for side in list(self._held):
            self._workers.end(self._held.pop(side))


class Jobs:
    """The jobs of all pages.

    Args:
        workers: where workers come from.
    """

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._running: list[Job] = []
        self._reading = asyncio.Lock()

    def begin(self, owner: str, asked: Sequence[Asked]) -> Job:
        """Begin a job; refuse what is too much for one request, for one page, or for all together.

        Args:
            owner: the page that asks.
            asked: the requests, which run at the same time.
        """
        for each in asked:
            each.check()
        self._running = [job for job in self._running if not job.is_over]
        if any(job.owner == owner for job in self._running):
            raise NalmError("This page is already at work: wait until it has finished, or press Stop.")
        if len(self._running) >= MOST_JOBS:
            raise NalmError(f"{MOST_JOBS} jobs are running in other windows: wait for one, or stop it there.")
        job = Job(owner, asked, self.workers)
        self._running.append(job)
        return job

    def stop(self, owner: str) -> None:
        """End the jobs of a page."""
        for job in self._running:
            if job.owner == owner:
                job.stop()

    async def answer(self, asked: Asked) -> dict[str, Any]:
        """The answer to a request that only reads; such requests wait for each other.

        Args:
            asked: the request.
        """
        asked.check()
        async with self._reading:
            job = Job("", [asked], self.workers)
            try:
                while True:
                    for _, (kind, what) in job.messages():
                        if kind == "refused":
                            raise NalmError(what)
                        if kind == "done":
                            return dict(what)
                    await asyncio.sleep(_LOOK)
            finally:
                job.stop()
