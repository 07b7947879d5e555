"""The runs of tasks that have a section each: cases, and what each column of a section's table reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.experiment.rebuild import task_of
from nalm.experiment.store import Record
from nalm.report.page_rows import labels_of, numbered, places
from nalm.report.set_apart import SetApart, variant_besides_steps
from nalm.tasks import TASKS, Facet, RangeTask, Split, Task
from nalm.tasks.digits._base import DigitTask

NAMES = tuple(name for name, kind in TASKS.items() if not issubclass(kind, (RangeTask, DigitTask)))
"""The tasks with a section each: those that neither the ranges of the papers nor digits have."""
SHARES = ("wrong", "missed")
"""Errors of such names are shares, which are shown as per cent of the rest."""
WORDS = {
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "wrong_digits": "matching digits, %",
    "missed": "in time, %",
    "missed_by_time": "in time, %",
}
"""What is measured, by the name of the error."""


@dataclass(frozen=True)
class TaskCase:
    """The stored runs of a model on a task.

    Attributes:
        task: the task.
        model: the model as it was written on the command line.
        variant: how the runs differ from what the model's text means today, their number of steps aside.
        runs: the runs in the order of their seeds, each with a single log, that of its chosen step.
    """

    task: Task
    model: str
    variant: tuple[str, ...]
    runs: tuple[Record, ...]

    @property
    def op(self) -> str:
        """The operation."""
        return str(self.task.labels().get("op", ""))

    @property
    def others(self) -> dict[str, Any]:
        """The labels of the task besides its operation."""
        return {name: value for name, value in self.task.labels().items() if name not in ("op", "expression")}


@dataclass(frozen=True)
class TaskGroup:
    """All cases of a task.

    Attributes:
        cases: the cases in the order of the page.
        labels: the name of each model.
        facets: what their runs are judged by, one column each.
    """

    cases: tuple[TaskCase, ...]
    labels: tuple[str, ...]
    facets: tuple[Facet, ...]

    @property
    def task(self) -> Task:
        """The task of the first case: all have the same name."""
        return self.cases[0].task

    def of_op(self, op: str) -> list[tuple[TaskCase, str]]:
        """The cases of an operation, each with a name that tells it from the others."""
        found = [(case, label) for case, label in zip(self.cases, self.labels) if case.op == op]
        common = set.intersection(*(set(case.others.items()) for case, _ in found))
        said = [", ".join([label, *_told(case, common)]) for case, label in found]
        several = {name for name in said if said.count(name) > 1}
        return [
            (case, f"{name}, {case.runs[0].iterations:,} steps" if name in several else name)
            for (case, _), name in zip(found, said)
        ]


def _told(case: TaskCase, common: Collection[tuple[str, Any]]) -> list[str]:
    """The labels that not all cases have."""
    own = [(name, value) for name, value in case.others.items() if (name, value) not in common]
    return [f"{name} {value}" if isinstance(value, int) else str(value) for name, value in own]


def task_groups(runs: SetApart) -> list[TaskGroup]:
    """One group per task, in the order of the catalogue."""
    found: dict[str, list[TaskCase]] = {}
    for held in runs.cases():
        first = held[0]
        case = TaskCase(task_of(first), first.model, variant_besides_steps(first), held)
        found.setdefault(first.task, []).append(case)
    return [_group(found[name]) for name in NAMES if name in found]


def _group(cases: list[TaskCase]) -> TaskGroup:
    cases.sort(key=_place)
    facets = [facet for case in cases for facet in facets_of(case)]
    return TaskGroup(
        tuple(cases), tuple(labels_of(cases)), tuple({f.curve + str(f.index): f for f in facets}.values())
    )


def _place(case: TaskCase) -> tuple[Any, ...]:
    named = places((case.op, case.task.ops), (case.model, case.task.models))
    return (
        *named,
        len(case.others),
        str(case.others),
        numbered("; ".join(case.variant)),
        -case.runs[0].iterations,
    )


def facets_of(case: TaskCase) -> tuple[Facet, ...]:
    """What a case is judged by; without facets, the decisive error on each set."""
    task = case.task
    if facets := task.facets():
        return facets
    error = task.measures[0].name
    return tuple(
        Facet(
            {"set": split}, f"{split}/{error}", below=task.threshold(Split.TEST) if split == "test" else None
        )
        for split in (Split.VALIDATION, *task.tests)
    )


def values_of(case: TaskCase, facet: Facet) -> np.ndarray:
    """The error of each run on a facet; none if the runs have not measured it.

    Shares are per cent of what is right. An error that is not finite is infinite, or all is wrong.
    """
    found = [value for run in case.runs if (value := _value(run, facet, case.task)) is not None]
    worst = 1.0 if is_share(facet) else np.inf
    errors = np.where(np.isfinite(found), found, worst)
    return 100 - 100 * errors if is_share(facet) else errors


def _value(run: Record, facet: Facet, task: Task) -> float | None:
    decisive = {f"{split}/{task.measures[0].name}": split for split in (Split.VALIDATION, Split.TEST)}
    if facet.curve in decisive:
        return float(getattr(run, decisive[facet.curve]).item(0))
    if facet.curve not in run.errors:
        return None
    held = run.errors[facet.curve]
    return float((held if facet.index is None else held[facet.index]).item(0))


def is_share(facet: Facet) -> bool:
    """Whether its error is a share of wrong answers."""
    return error_of(facet).startswith(SHARES)


def error_of(facet: Facet) -> str:
    """The name of its error."""
    return facet.curve.partition("/")[2]


def measured(facet: Facet) -> str:
    """What is shown of it, in words."""
    return WORDS.get(error_of(facet), "right answers, %" if is_share(facet) else error_of(facet))


def solved(case: TaskCase, facet: Facet) -> Sequence[bool]:
    """Whether each run succeeds on a facet; empty if nothing says what success is."""
    if facet.below is None:
        return []
    limit = 100 - 100 * facet.below if is_share(facet) else facet.below
    values = values_of(case, facet)
    return list(values > limit if is_share(facet) else values < limit)
