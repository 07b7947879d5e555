"""A trial of benchmarks/causes.py: one change to one entry of the ledger, measured on both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Grid
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.findings import share
from nalm.papers.shared.series import Change
from public_forms import own

Pair = tuple[Finding, Finding]
"""A number before and after the change."""
Cases = Mapping[str, Case]
"""Cases by the name of their column."""
SEEDS = 25


@dataclass(frozen=True)
class Trial:
    """One change to one entry.

    Attributes:
        entry: the id of the entry.
        about: the sentence or cell that differs.
        change: what is changed, in words.
        measure: both sides, by column.
    """

    entry: str
    about: str
    change: str
    measure: Callable[[StoreRunner], dict[str, Pair]]


def rates(
    before: Cases, after: Cases, seeds: int = SEEDS, threshold: float | None = None
) -> Callable[[StoreRunner], dict[str, Pair]]:
    """Shares of solved runs; a threshold applies to the second side only."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        sides = ((before, None), (after, threshold))
        first, second = (shares(run, cases, seeds, limit) for cases, limit in sides)
        return {column: (first[column], second[column]) for column in before}

    return measure


def shares(run: StoreRunner, cases: Cases, seeds: int, threshold: float | None) -> dict[str, Finding]:
    """The share of solved runs of each case, by the task's threshold or the given one."""
    judged = run(Experiment("causes", tuple(dict.fromkeys(cases.values())), seeds), threshold)
    return {c: share([r.assessment.outcome == "solved" for r in judged[case]]) for c, case in cases.items()}


def more_seeds(entry: str, name: str, about: str, columns: Sequence[str] | None = None) -> Trial:
    """A row of an entry by four times the seeds."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        cases = row(entry, name, columns)
        few, many = (shares(run, cases, seeds, None) for seeds in (SEEDS, 4 * SEEDS))
        return {c: (few[c], many[c]) for c in cases}

    return Trial(entry, about, "100 seeds instead of 25", measure)


def row(entry: str, name: str, columns: Sequence[str] | None = None) -> Cases:
    """The cases of a row of an entry; the cells must not pool several."""
    grid = ENTRIES[entry]
    assert isinstance(grid, Grid)
    places = {c: place for (r, c), place in grid.places.items() if r == name}
    return {c: places[c].cases[0] for c in columns or places}


def changed(cases: Cases, change: Change) -> Cases:
    """The same cases by another recipe."""
    return {c: replace(case, other_recipe=change(case.recipe)) for c, case in cases.items()}


def other(cases: Cases, kind: type[torch.nn.Module], change: Change = lambda recipe: recipe) -> Cases:
    """The same cases with a unit of `public_forms`."""
    return {c: own(kind, case.task, change(case.recipe)) for c, case in cases.items()}  # type: ignore[arg-type]
