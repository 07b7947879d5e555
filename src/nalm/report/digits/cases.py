"""The runs of tasks on digits, set apart from all others: groups of cases that can be compared."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields, replace
from typing import Any

from nalm.experiment.facets import is_reference
from nalm.experiment.rebuild import spec_of, task_of
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.report.page_rows import labels_of, places
from nalm.report.set_apart import SetApart, as_text, variant_besides_steps
from nalm.tasks import TASKS, Facet
from nalm.tasks.digits._base import DigitTask

NAMES = frozenset(name for name, kind in TASKS.items() if issubclass(kind, DigitTask))
"""The tasks of the section."""


@dataclass(frozen=True)
class DigitCase:
    """The stored runs of a model on a task.

    Attributes:
        task: the task.
        model: the model as it was written on the command line.
        variant: how the runs differ from what the model's text means today, their number of steps aside.
        iterations: the number of steps.
        runs: the runs in the order of their seeds, each with a single log, that of its chosen step.
    """

    task: DigitTask
    model: str
    variant: tuple[str, ...]
    iterations: int
    runs: tuple[Record, ...]

    def case(self) -> Case | None:
        """The same as a case of a benchmark, with its usual recipe; None if the model is not known here."""
        spec = spec_of(self.model)
        if spec is None or as_text(spec.identity()) != as_text(self.runs[0].identity["layers"]):
            return None
        hidden = self.runs[0].identity.get("hidden", 2)
        return Case(spec, self.task, self.iterations, hidden=hidden, schedule="scaled")

    @property
    def is_reference(self) -> bool:
        """Whether its runs set the errors below which others succeed."""
        case = self.case()
        return case is not None and is_reference(case)


@dataclass(frozen=True)
class DigitGroup:
    """Cases of one task with equally many steps, which are compared.

    Attributes:
        task: the task.
        iterations: the number of steps.
        cases: the cases in the order of the page.
        labels: the name of each.
        common: how all of them differ from what their models' texts mean today.
        alone: whether no other group has the same task.
    """

    task: DigitTask
    iterations: int
    cases: tuple[DigitCase, ...]
    labels: tuple[str, ...]
    common: tuple[str, ...]
    alone: bool

    @property
    def title(self) -> str:
        """The task, its operation, and what is unusual about it."""
        said = [self.task.name, self.task.op, *(["reduced protocol"] if self.task.is_quick else [])]
        said += [f"{name}={value}" for name, value in _unusual(self.task).items()]
        return ", ".join(said + ([] if self.alone else [f"{self.iterations:,} steps"]))

    @functools.cached_property
    def facets(self) -> tuple[Facet, ...]:
        """What its task is judged by, as far as all of its runs have measured it."""
        runs = [run for case in self.cases for run in case.runs]
        return tuple(f for f in self.task.facets() if all(f.curve in run.errors for run in runs))

    @functools.cached_property
    def reference(self) -> DigitCase | None:
        """The case of the model whose arithmetic is solved, if there is one."""
        return next((case for case in self.cases if case.is_reference), None)


class DigitRuns(SetApart):
    """Collects the runs of tasks on digits."""

    def __init__(self) -> None:
        super().__init__(NAMES)

    def groups(self) -> list[DigitGroup]:
        """All groups, in the order of tasks and operations; the papers' protocol and most steps first."""
        found: dict[tuple[DigitTask, int], list[DigitCase]] = {}
        for runs in self.cases():
            case = _case(runs)
            found.setdefault((case.task, case.iterations), []).append(case)
        of_task = [task for task, _ in found]
        return [
            _group(task, iterations, found[task, iterations], alone=of_task.count(task) == 1)
            for task, iterations in sorted(found, key=_place)
        ]


def _case(runs: tuple[Record, ...]) -> DigitCase:
    first, task = runs[0], task_of(runs[0])
    assert isinstance(task, DigitTask)
    return DigitCase(task, first.model, variant_besides_steps(first), first.iterations, runs)


def _group(task: DigitTask, iterations: int, cases: list[DigitCase], *, alone: bool) -> DigitGroup:
    common = tuple(part for part in cases[0].variant if all(part in case.variant for case in cases))
    told = [
        replace(case, variant=tuple(part for part in case.variant if part not in common)) for case in cases
    ]
    told.sort(key=_case_place)
    return DigitGroup(task, iterations, tuple(told), tuple(labels_of(told)), common, alone)


def _place(key: tuple[DigitTask, int]) -> tuple[Any, ...]:
    task, iterations = key
    return (*places((task.name, TASKS), (task.op, task.ops)), task.is_quick, str(task), -iterations)


def _case_place(case: DigitCase) -> tuple[Any, ...]:
    """The reference first, then the order of the papers; a variant after its model."""
    return (not case.is_reference, *places((case.model, case.task.models)), len(case.variant), case.variant)


def _unusual(task: DigitTask) -> dict[str, Any]:
    """The fields that are not those of the protocol."""
    usual = type(task)(op=task.op)
    usual = usual.reduced() if task.is_quick else usual
    return {
        field.name: getattr(task, field.name)
        for field in fields(task)
        if getattr(task, field.name) != getattr(usual, field.name)
    }
