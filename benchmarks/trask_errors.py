"""What the trials of Trask et al. 2018 share: errors per seed, how they become numbers, and both sides.

Errors are in per cent of those of untrained models on the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.findings import median
from nalm.papers.trask2018.entries.static import SEEDS
from nalm.recipes import Recipe
from trial import Pair

Errors = tuple[list[float], list[float]]
"""Errors in interpolation and in extrapolation, one per seed."""
Choice = Callable[[Errors], tuple[Finding, Finding]]
"""How the seeds of a cell become two numbers."""
Cells = Mapping[tuple[str, str], Case]
"""Cases by row and column."""
Reading = Callable[[StoreRunner, Cells], dict[tuple[str, str], Errors]]
"""How the errors of cases are found, in per cent."""
Changing = Callable[[Case], Case]


def medians(errors: Errors) -> tuple[Finding, Finding]:
    """The median over seeds, as in the entries."""
    return median(errors[0]), median(errors[1])


def best(errors: Errors) -> tuple[Finding, Finding]:
    """The errors of the seed whose error in interpolation is the lowest."""
    chosen = int(np.argmin(errors[0]))
    return Finding(errors[0][chosen], None, None, SEEDS), Finding(errors[1][chosen], None, None, SEEDS)


def compared(
    before: Cells, change: Changing, read: Reading, choice: Choice
) -> Callable[[StoreRunner], dict[str, Pair]]:
    """Both errors of each cell, before and after."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        first, second = read(run, before), read(run, {cell: change(case) for cell, case in before.items()})
        pairs = {}
        for cell in before:
            sides = zip(medians(first[cell]), choice(second[cell]))
            for part, pair in zip(("interpolation", "extrapolation"), sides):
                pairs[f"{cell[0]}, {cell[1]}: {part}"] = pair
        return pairs

    return measure


def by(change: Callable[[Recipe], Recipe]) -> Changing:
    """The same case by another recipe."""
    return lambda case: replace(case, other_recipe=change(case.recipe))


def same(case: Case) -> Case:
    """No change: only the choice among the seeds differs."""
    return case
