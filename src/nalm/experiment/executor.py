"""Who computes: the processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nalm.errors import NalmError
from nalm.experiment.plan import Chunk
from nalm.experiment.store import Record


class WorkerError(NalmError):
    """A process that computes failed for good."""


def portable(error: Exception) -> NalmError:
    """An error that can be sent to another process: ours as it is, others by their text."""
    return error if isinstance(error, NalmError) else WorkerError(f"{type(error).__name__}: {error}")


@dataclass
class Progress:
    """How far the work is, in steps of single runs; on a cluster also in chunks.

    Attributes:
        total: steps of all runs.
        done: those that are done.
        chunks: all chunks.
        chunks_done: those that are done.
        workers: how many there are on a cluster now; None on this machine.
        began: when.
    """

    total: int
    done: int = 0
    chunks: int = 0
    chunks_done: int = 0
    workers: int | None = None
    began: float = field(default_factory=time.perf_counter)
    _first: tuple[float, int] | None = None

    def advance(self, done: int) -> None:
        """Note how far the work is now."""
        if self._first is None and done:
            self._first = (time.perf_counter(), done)
        self.done = done

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self.began

    @property
    def seconds_left(self) -> float | None:
        """How long it takes from here; None if that is not known.

        At the pace since the first progress, which leaves compiling out; on a cluster, where whole chunks
        come in, several at first, at the pace since the beginning.
        """
        if self.workers is not None:
            return (self.total - self.done) * self.seconds / self.done if self.done else None
        if self._first is None or self.done == self._first[1]:
            return None
        then, before = self._first
        return (self.total - self.done) * (time.perf_counter() - then) / (self.done - before)


OnProgress = Callable[[Progress], None]


class Executor(Protocol):
    """Computes chunks, some at a time; only the process that asks writes the store."""

    @property
    def size(self) -> int:
        """How many chunks are computed at a time."""
        ...

    def compute(
        self, chunks: Sequence[Chunk], on_progress: OnProgress, checkpoints: Path | None = None
    ) -> Iterator[list[Record]]:
        """The records of each chunk, in the order in which they are ready.

        Args:
            chunks: what to compute.
            on_progress: called when something is done.
            checkpoints: a folder for checkpoints of long runs; a worker that cannot see it writes none.
        """
        ...
