"""The plan: which runs are computed together.

Runs of one program (the same model, shape of recipe, shape of task and number of steps) form a group, which
is cut into chunks. A chunk is computed by one process and stored as a whole, so that an interruption loses
whole chunks. A run's numbers do not depend on what shares its batch, so the cut changes no number.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from nalm.experiment.run import Case, Run
from nalm.recipes.numbers import split
from nalm.training.trainers import trainer_of

SMALL = 100 * 50_000
"""Chunks of fewer run-steps are not worth another process, which would have to load the same program."""
LARGE = 10 * 5_000_000
"""Chunks of more run-steps are cut, because an interruption loses a whole chunk: minutes, not hours."""


@dataclass(frozen=True)
class Chunk:
    """Runs of one program that are computed together."""

    runs: tuple[Run, ...]

    @property
    def first(self) -> Case:
        """The case of the first run: model and shapes are the same for all."""
        return self.runs[0].case

    @property
    def run_steps(self) -> int:
        """How much work it is: runs times steps."""
        return len(self.runs) * self.first.recipe.iterations


def make_plan(runs: Iterable[Run], processes: int) -> list[Chunk]:
    """Chunks of all runs, largest first, so that the processes finish at about the same time."""
    groups: dict[Hashable, list[Run]] = {}
    programs: dict[int, Hashable] = {}  # by the id of the case, because cases are slow to compare
    for run in runs:
        if id(run.case) not in programs:
            programs[id(run.case)] = _program(run.case)
        groups.setdefault(programs[id(run.case)], []).append(run)
    parts = processes if len(groups) < processes else 1
    chunks = [Chunk(tuple(part)) for group in groups.values() for part in _even(group, _size(group, parts))]
    return sorted(chunks, key=lambda chunk: -chunk.run_steps)


def _size(group: Sequence[Run], parts: int) -> int:
    """The most runs of a chunk: the group divided by `parts`, enough to be worth a process, not too many."""
    recipe = group[0].case.recipe
    worth, most = -(-SMALL // recipe.work), max(1, LARGE // recipe.work)
    return min(trainer_of(recipe).chunk, most, max(worth, -(-len(group) // parts)))


def _program(case: Case) -> Hashable:
    shape = split(replace(case.recipe, iterations=1))[0]
    return (
        case.model.architecture,
        case.hidden,
        shape,
        case.task.shape(),
        case.recipe.iterations,
    )


def _even(runs: Sequence[Run], size: int) -> list[Sequence[Run]]:
    """Parts of at most this size, as equal as possible."""
    parts = -(-len(runs) // size)
    ends = [len(runs) * k // parts for k in range(parts + 1)]
    return [runs[a:b] for a, b in itertools.pairwise(ends)]
