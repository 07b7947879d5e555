"""The plan: which runs are computed together.

Runs of one program (the same model, shape of recipe, shape of task and number of steps) form a group. A
group is cut into chunks, which are the units of work and of loss: a chunk is computed by one process and
stored as a whole. Since a run's numbers do not depend on its company, the cut changes no number.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from nalm.experiment.run import Run
from nalm.training.numbers import split

CHUNK = 1000
"""Runs in a chunk: enough to fill the engine's batches, few enough to lose."""
SMALL = 100
"""Chunks of fewer runs are not worth a second process, which would compile the same program."""


@dataclass(frozen=True)
class Chunk:
    """Runs of one program that are computed together."""

    runs: tuple[Run, ...]

    @property
    def run_steps(self) -> int:
        """How much work it is: steps times runs."""
        return sum(run.recipe.iterations for run in self.runs)


def make_plan(runs: Iterable[Run], processes: int) -> list[Chunk]:
    """Chunks of all runs, large ones first, so that the processes end at about the same time."""
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        groups.setdefault(_program(run), []).append(run)
    size = CHUNK
    if len(groups) < processes:
        largest = max((len(group) for group in groups.values()), default=0)
        size = min(CHUNK, max(SMALL, -(-largest // processes)))
    chunks = [Chunk(tuple(part)) for group in groups.values() for part in _even(group, size)]
    return sorted(chunks, key=lambda chunk: -chunk.run_steps)


def _program(run: Run) -> Hashable:
    recipe = run.recipe
    shape = split(replace(recipe, iterations=1))[0]
    return (str(replace(run.model, recipe=None)), shape, run.task.shape(), recipe.iterations)


def _even(runs: Sequence[Run], size: int) -> list[Sequence[Run]]:
    """Parts of at most this size, as equal as possible."""
    parts = -(-len(runs) // size)
    ends = [len(runs) * k // parts for k in range(parts + 1)]
    return [runs[a:b] for a, b in itertools.pairwise(ends)]
