"""Success rates that the papers publish for a task, to compare runs of any unit with.

A rate is comparable if it was measured on the same data (task, operation, inputs, ranges), by the threshold
that the task has here, and with the recipe that the paper trains the unit by; other settings of a sweep are
left out. Every rate comes with its number of steps, so that readers can compare it with that of their runs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nalm.errors import NalmError
from nalm.evaluate.intervals import Interval
from nalm.experiment.run import Case
from nalm.papers.metrics import SUCCESS
from nalm.papers.published import Published, numbers_of
from nalm.tasks import Task


@dataclass(frozen=True)
class PublishedRate:
    """The published success rate of a unit on a task.

    Attributes:
        model: the unit as written on the command line, such as `realnpu@modified`.
        label: the unit as the paper writes it.
        success: the rate with its 95 % interval, Wilson's where the paper gives none.
        n: number of seeds, if the paper gives it.
        iterations: number of training steps.
        threshold: what counted as success, in words.
        source: where it is published, such as `mistry2023, section 3.3.2, text`.
        entry: its id in `nalm reproduce`.
        kind: `number` if it is printed or measured in a figure, `claim` if a sentence says it in words.
    """

    model: str
    label: str
    success: Interval
    n: int | None
    iterations: int
    threshold: str
    source: str
    entry: str
    kind: str

    def row(self) -> dict[str, Any]:
        """The rate as plain data."""
        rate = {"rate": self.success.value, "low": self.success.low, "high": self.success.high}
        others = ("n", "iterations", "threshold", "source", "entry", "kind")
        return {
            "model": self.model,
            "label": self.label,
            "success": rate,
            **{name: getattr(self, name) for name in others},
        }


def published_for(task: Task, iterations: int | None = None) -> list[PublishedRate]:
    """The success rates that papers publish for a task, one per paper, unit and recipe.

    Args:
        task: the task, with operation, range and number of inputs; the spelling of a range does not matter.
        iterations: only rates of units that were trained for this many steps; None for all.
    """
    found = _by_task().get(_key(task), ())
    return [rate for rate in found if iterations is None or rate.iterations == iterations]


def _key(task: Task) -> str:
    """A key that is equal for tasks with the same data."""
    return json.dumps(task.identity(), sort_keys=True)


@dataclass(frozen=True)
class _Found:
    """A published number and the case that reproduces it."""

    number: Published
    case: Case

    @property
    def weight(self) -> tuple[bool, int]:
        """Numbers outweigh claims, then more seeds outweigh fewer."""
        return self.number.kind == "number", self.number.n or 0


@functools.cache
def _by_task() -> dict[str, list[PublishedRate]]:
    """The rates of every task; if a paper has several for one unit and recipe, the weightiest."""
    best: dict[tuple[str, ...], _Found] = {}
    for found in _comparable():
        paper, recipe = found.number.entry.partition(":")[0], repr(found.case.recipe)
        place = (_key(found.case.task), paper, str(found.case.model), recipe)
        if place not in best or found.weight > best[place].weight:
            best[place] = found
    rates: dict[str, list[PublishedRate]] = {}
    for (task, *_), found in best.items():
        rates.setdefault(task, []).append(_rate(found))
    return rates


def _comparable() -> Iterator[_Found]:
    """Published rates of single cases that are judged by the task's own threshold."""
    from nalm.papers.entries import ENTRIES  # imports the specs of all papers, which takes a second
    from nalm.papers.entry import Grid

    for entry in ENTRIES.values():
        if not isinstance(entry, Grid) or entry.threshold is not None:
            continue
        swept = _swept(case for place in entry.places.values() for case in place.cases)
        for number in numbers_of(entry.id):
            place = entry.places.get((number.row, number.column))
            if number.metric != SUCCESS.name or place is None or place.reason is not None:
                continue
            if len(place.cases) > 1 or place.cases[0].hidden != Case.hidden:
                continue  # several ranges pooled, or another network than that of `bench`
            if _setting(place.cases[0]) not in swept or is_own_recipe(place.cases[0]):
                yield _Found(number, place.cases[0])


def _setting(case: Case) -> tuple[str, str, int]:
    """Everything but the recipe."""
    return _key(case.task), str(case.model), case.hidden


def _swept(cases: Iterable[Case]) -> set[tuple[str, str, int]]:
    """The settings that a figure has with several recipes."""
    recipes: dict[tuple[str, str, int], set[str]] = {}
    for case in cases:
        recipes.setdefault(_setting(case), set()).add(repr(case.recipe))
    return {setting for setting, found in recipes.items() if len(found) > 1}


def is_own_recipe(case: Case) -> bool:
    """Whether a case is trained by the recipe that its model names, unchanged."""
    try:
        return case.recipe == case.named_recipe
    except NalmError:  # papers also train units on operations that they cannot express
        return False


def _rate(found: _Found) -> PublishedRate:
    number = found.number
    return PublishedRate(
        model=str(found.case.model),
        label=number.row,
        success=number.interval(),
        n=number.n,
        iterations=found.case.recipe.iterations,
        threshold=number.threshold,
        source=f"{number.entry.partition(':')[0]}, {number.locator}",
        entry=number.entry,
        kind=number.kind,
    )
