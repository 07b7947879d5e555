"""The runs of tasks on digits, set apart from all others: groups of cases that can be compared.

Of a run, only what it measured at its chosen step is kept.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from nalm.experiment.facets import is_reference
from nalm.experiment.rebuild import spec_of, task_of
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.experiment.stored_cases import variant_of
from nalm.report.page_rows import labels_of, places
from nalm.tasks import TASKS, Facet
from nalm.tasks.digits._base import DigitTask

NAMES = frozenset(name for name, kind in TASKS.items() if issubclass(kind, DigitTask))
"""The tasks of the section."""
_STEPS = "iterations="


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
        if spec is None or _text(spec.identity()) != _text(self.runs[0].identity["layers"]):
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


class DigitRuns:
    """Collects the runs of tasks on digits.

    Attributes:
        total: the number of runs so far.
    """

    def __init__(self) -> None:
        self.total = 0
        self._known: dict[tuple[str, str], list[Record]] = {}

    def set_apart(self, records: Iterable[Record]) -> Iterator[Record]:
        """All runs of other tasks; those of tasks on digits are kept here."""
        for record in records:
            if record.task in NAMES:
                self.add(record)
            else:
                yield record

    def add(self, record: Record) -> None:
        """Add a run, of which only the chosen step is kept."""
        key = (record.model, _text(record.identity))
        self._known.setdefault(key, []).append(at_chosen_step(record))
        self.total += 1

    def groups(self) -> list[DigitGroup]:
        """All groups, in the order of tasks and operations; the papers' protocol and most steps first."""
        found: dict[tuple[DigitTask, int], list[DigitCase]] = {}
        for runs in self._known.values():
            case = _case(runs)
            found.setdefault((case.task, case.iterations), []).append(case)
        of_task = [task for task, _ in found]
        return [
            _group(task, iterations, found[task, iterations], alone=of_task.count(task) == 1)
            for task, iterations in sorted(found, key=_place)
        ]


def at_chosen_step(record: Record) -> Record:
    """The run with a single log, that of its chosen step, and without parameters."""
    k = record.chosen
    return replace(
        record,
        steps=record.steps[k : k + 1],
        validation=record.validation[k : k + 1],
        test=record.test[k : k + 1],
        chosen=0,
        errors={name: curve[..., k : k + 1].copy() for name, curve in record.errors.items()},
        chosen_parameters={},
        final_parameters={},
        history={},
    )


def _text(held: Any) -> str:
    """Plain data as text; equal data have equal texts, whether they come from a store or not."""
    return json.dumps(held, sort_keys=True)


def _case(runs: Sequence[Record]) -> DigitCase:
    first, task = runs[0], task_of(runs[0])
    assert isinstance(task, DigitTask)
    variant = tuple(part for part in variant_of(first) if not part.startswith(_STEPS))
    ordered = tuple(sorted(runs, key=lambda run: run.seed))
    return DigitCase(task, first.model, variant, first.iterations, ordered)


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
