"""Compute chunks on this machine: one process per core, each with one thread.

The coordinating process gives each process one chunk at a time and receives its records. A process that dies
is replaced and its chunk is tried again, a few times. If the coordinator dies, all processes end.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from nalm.errors import NalmError
from nalm.experiment.executor import OnProgress, Progress, WorkerError, portable
from nalm.experiment.plan import Chunk
from nalm.experiment.process import start
from nalm.experiment.store import Record
from nalm.trained import StepsDone

ATTEMPTS = 3
"""A chunk is given up after this many processes died while computing it."""


@dataclass
class _Worker:
    process: Any
    connection: Connection
    chunk: Chunk | None = None
    done: int = 0


@dataclass(frozen=True)
class Local:
    """Computes chunks in processes of this machine.

    Args:
        processes: the number of processes.
        device: where they train.
    """

    processes: int
    device: str = "cpu"

    @property
    def size(self) -> int:
        """The number of chunks computed at a time."""
        return self.processes

    def compute(
        self,
        chunks: Sequence[Chunk],
        on_progress: OnProgress = lambda progress: None,
        checkpoints: Path | None = None,
    ) -> Iterator[list[Record]]:
        """The records of each chunk, as chunks finish."""
        for task in dict.fromkeys(chunk.first.task for chunk in chunks):
            task.prepare()
        progress = Progress.of(chunks)
        pool = _Pool(chunks, self.processes, checkpoints, self.device)
        try:
            pool.compile_together()
            while pool.is_busy():
                pool.hand_out()
                for kind, value in pool.receive():
                    progress.advance(pool.run_steps_done())
                    on_progress(progress)
                    if kind == "records":
                        yield value
        finally:
            pool.close()


class _Pool:
    """Processes with the chunks that they compute, and the chunks that wait."""

    def __init__(
        self, chunks: Sequence[Chunk], processes: int, checkpoints: Path | None, device: str
    ) -> None:
        self.checkpoints, self.device = checkpoints, device
        self.waiting = list(chunks)
        self.attempts = dict.fromkeys(map(id, chunks), 0)
        self.finished = 0
        # With one model, all processes need the same two programs.
        self.alone = processes > 1 and len({chunk.first.model for chunk in chunks}) == 1
        self.workers = [_start() for _ in range(min(processes, max(len(chunks), 2 * self.alone)))]

    def is_busy(self) -> bool:
        """Whether any chunk is unfinished."""
        return bool(self.waiting) or any(worker.chunk for worker in self.workers)

    def run_steps_done(self) -> int:
        """Finished run-steps, including those of unfinished chunks."""
        return self.finished + sum(worker.done for worker in self.workers)

    def compile_together(self) -> None:
        """With one model, two processes compile one program each, which all then find in the cache.

        Errors here, such as a process that dies, are ignored: they happen again and are reported in the work.
        """
        if not self.alone:
            return
        for worker, part in zip(self.workers, ("evaluate", "train")):
            with contextlib.suppress(BrokenPipeError):
                worker.connection.send((part, self.waiting[0], None, self.device))
        for worker in self.workers[:2]:
            with contextlib.suppress(EOFError, ConnectionResetError):
                worker.connection.recv()

    def hand_out(self) -> None:
        """Give every idle process a chunk, as long as chunks are waiting."""
        for worker in self.workers:
            if worker.chunk is None and self.waiting:
                worker.chunk, worker.done = self.waiting.pop(self._pick()), 0
                with contextlib.suppress(BrokenPipeError):  # `receive` notices a dead process
                    worker.connection.send(("compute", worker.chunk, self.checkpoints, self.device))

    def _pick(self) -> int:
        """Index of the first chunk whose model no process works on, so that no program is compiled twice."""
        busy = {worker.chunk.first.model for worker in self.workers if worker.chunk}
        return next((k for k, chunk in enumerate(self.waiting) if chunk.first.model not in busy), 0)

    def receive(self) -> Iterator[tuple[str, Any]]:
        """Messages of the processes, waiting for at most a second; processes that died are replaced."""
        for connection in wait([w.connection for w in self.workers if w.chunk], timeout=1.0):
            worker = next(w for w in self.workers if w.connection is connection)
            assert worker.chunk is not None
            try:
                kind, value = worker.connection.recv()
            except (EOFError, ConnectionResetError):
                self._replace(worker, worker.chunk)
                continue
            if kind == "error":
                raise value
            if kind == "progress":
                worker.done = value
            else:
                self.finished += worker.chunk.run_steps
                worker.chunk, worker.done = None, 0
            yield kind, value

    def _replace(self, worker: _Worker, chunk: Chunk) -> None:
        self.attempts[id(chunk)] += 1
        if self.attempts[id(chunk)] >= ATTEMPTS:
            raise WorkerError(_died(worker)) from None
        self.waiting.insert(0, chunk)
        worker.process.join()
        self.workers[self.workers.index(worker)] = _start()

    def close(self) -> None:
        """Kill all processes."""
        for worker in self.workers:
            worker.process.kill()
            worker.process.join()


def _died(worker: _Worker) -> str:
    assert worker.chunk is not None
    case = worker.chunk.first
    worker.process.join()
    code = worker.process.exitcode
    what = f"The process that trained {case.model} on {case.task.title}"
    return f"{what} died {ATTEMPTS} times (last exit code {code})."


def _start() -> _Worker:
    return _Worker(*start(_work))


def _work(connection: Connection) -> None:
    """The main function of a process: compute chunks until the coordinator closes the connection."""
    from nalm.experiment.compute import compute, prepare

    while True:
        try:
            job, chunk, checkpoints, device = connection.recv()
        except EOFError:
            return
        except NalmError as error:  # a user's file has changed
            connection.send(("error", error))
            return
        if job != "compute":
            with contextlib.suppress(Exception):  # an error happens again in the work, which reports it
                prepare(chunk, job)
            connection.send(("prepared", job))
            continue
        try:
            tell = functools.partial(_send_progress, connection)
            records = compute(chunk, tell, checkpoints, device)
        except Exception as error:
            connection.send(("error", portable(error)))
            return
        connection.send(("records", records))


def _send_progress(connection: Connection, report: StepsDone) -> None:
    connection.send(("progress", report.done))
