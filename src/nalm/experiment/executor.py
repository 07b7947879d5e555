"""Executors compute chunks: the processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from nalm.errors import NalmError
from nalm.experiment.plan import Chunk
from nalm.experiment.store import Record


class WorkerError(NalmError):
    """A process that computes chunks failed repeatedly, or in a way that cannot be retried."""


def portable(error: Exception) -> NalmError:
    """An error that can be sent to another process: a `NalmError` itself, any other error as text."""
    return error if isinstance(error, NalmError) else WorkerError(f"{type(error).__name__}: {error}")


@dataclass
class Progress:
    """How much work is done, in run-steps (one step of one run); on a cluster also in chunks.

    Attributes:
        total: all run-steps.
        done: finished run-steps.
        chunks: the number of all chunks.
        chunks_done: the number of finished chunks.
        workers: the current number of workers of a cluster; None on this machine.
        images: the images of all run-steps; None for tasks without images.
        epochs: the epochs of all run-steps; None for tasks without epochs.
        began: the time of the start.
    """

    total: int
    done: int = 0
    chunks: int = 0
    chunks_done: int = 0
    workers: int | None = None
    images: int | None = None
    epochs: float | None = None
    began: float = field(default_factory=time.perf_counter)
    _first: tuple[float, int] | None = None

    @classmethod
    def of(cls, chunks: Sequence[Chunk], workers: int | None = None) -> Self:
        """Progress of these chunks before the first step."""
        sizes = [(chunk.run_steps, chunk.first.task) for chunk in chunks]
        images = [steps * (task.images_per_step or 0) for steps, task in sizes]
        epochs = [steps / (task.epoch() or math.inf) for steps, task in sizes]
        return cls(
            sum(steps for steps, _ in sizes),
            chunks=0 if workers is None else len(chunks),
            workers=workers,
            images=sum(images) if all(images) else None,
            epochs=sum(epochs) if all(epochs) else None,
        )

    def advance(self, done: int) -> None:
        """Note the number of finished run-steps."""
        if self._first is None and done:
            self._first = (time.perf_counter(), done)
        self.done = done

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    @property
    def steps_per_second(self) -> float | None:
        """Run-steps per second since the first progress; None if unknown."""
        if self._first is None or self.done == self._first[1]:
            return None
        then, before = self._first
        return (self.done - before) / (time.perf_counter() - then)

    @property
    def seconds_left(self) -> float | None:
        """The estimated remaining seconds; None if unknown.

        By the pace since the first progress, which excludes compilation. On a cluster, where progress comes
        in whole chunks and several of them at first, by the pace since the start.
        """
        if self.workers is not None:
            return (self.total - self.done) * self.seconds / self.done if self.done else None
        pace = self.steps_per_second
        return None if pace is None else (self.total - self.done) / pace


OnProgress = Callable[[Progress], None]


class Executor(Protocol):
    """Computes chunks, several at a time; only the coordinating process writes the store."""

    @property
    def size(self) -> int:
        """The number of chunks computed at a time."""
        ...

    def compute(
        self, chunks: Sequence[Chunk], on_progress: OnProgress, checkpoints: Path | None = None
    ) -> Iterator[list[Record]]:
        """The records of each chunk, as chunks finish.

        Args:
            chunks: what to compute.
            on_progress: called on progress.
            checkpoints: a folder for checkpoints of long runs; a worker that cannot see it writes none.
        """
        ...
