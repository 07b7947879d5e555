"""The rows of a page: every case of a store, with its section and name, in the order of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from nalm.evaluate.ranking import Budget
from nalm.experiment.stored_cases import StoredCase
from nalm.tasks import OPERATIONS, RANGE_SETS, RANGES, TASKS, RangeTask
from nalm.units import UNITS

LONGEST_LABEL = 60
_RANGES_IN_WORDS = {"distributions": "other distributions"}


@dataclass(frozen=True)
class Section:
    """A task with a number of inputs on a set of ranges."""

    task: str
    inputs: int
    others: tuple[tuple[str, Any], ...]
    ranges: str

    @property
    def title(self) -> str:
        """A heading."""
        said = [self.task, f"{self.inputs} input{'s' if self.inputs > 1 else ''}"]
        said += [f"{name}={value}" for name, value in self.others]
        return ", ".join([*said, _RANGES_IN_WORDS.get(self.ranges, f"{self.ranges} ranges")])


def section_of(case: StoredCase) -> Section:
    """The section of a case."""
    known = {field.name: field.default for field in fields(case.task)}  # type: ignore[arg-type]
    others = [
        (name, getattr(case.task, name))
        for name, usual in known.items()
        if name not in ("op", "range", "inputs") and getattr(case.task, name) != usual
    ]
    return Section(case.task.name, case.task.inputs, tuple(others), _range_set(case))


def _range_set(case: StoredCase) -> str:
    name = range_name(case.task)
    return next((known for known, members in RANGE_SETS.items() if name in members), "other")


def range_name(task: RangeTask) -> str:
    """The papers' name of a range, or its ends: the same for the same data, however it was written."""
    if task.range in RANGES:
        return task.range
    pair = (task.train_range, task.test_range)
    return next((name for name, known in RANGES.items() if known == pair), f"{pair[0]}=>{pair[1]}")


@dataclass(frozen=True, eq=False)
class PageRow:
    """A case as a row of the page.

    Attributes:
        index: its number on the page.
        case: the stored runs.
        section: its section.
        label: the name of its model and variant.
        second_rank: whether the page has the same model with its own recipe and equally many steps; this row
            is then hidden at first.
    """

    index: int
    case: StoredCase
    section: Section
    label: str
    second_rank: bool

    @property
    def op(self) -> str:
        """The operation."""
        return self.case.task.op

    @property
    def budget(self) -> Budget:
        """The budget, within which rows are compared."""
        return budget_of(self.case)

    @property
    def range(self) -> str:
        """The name of the range, the same however it was written."""
        return range_name(self.case.task)


def page_rows_of(cases: Sequence[StoredCase]) -> list[PageRow]:
    """Cases in the order of the page, each with its section and label."""
    placed = sorted(((section_of(case), case) for case in cases), key=lambda pair: _place(*pair))
    labels = labels_of([case for _, case in placed])
    plain = {_rank_key(section, case) for section, case in placed if not case.variant}
    return [
        PageRow(k, case, section, labels[k], bool(case.variant) and _rank_key(section, case) in plain)
        for k, (section, case) in enumerate(placed)
    ]


class _Search(Budget):
    """A search for an expression, which has no steps of training."""

    def __str__(self) -> str:
        return "by search"


def budget_of(case: StoredCase) -> Budget:
    """The number and kind of steps that its runs were given."""
    if case.trainer == "compose":
        return _Search(second_order=True, steps=0)
    return Budget(case.trainer == "second-order", case.iterations)


def _rank_key(section: Section, case: StoredCase) -> tuple[Any, ...]:
    """What a variant and the plain model must have in common for the variant to be hidden."""
    return section, case.model, case.task.op, budget_of(case)


def _place(section: Section, case: StoredCase) -> tuple[Any, ...]:
    """The sort key of a case: the order of the catalogue, with anything that is not in it last."""
    unit = re.split("[@(+]", case.model)[0]
    named = ((section.task, TASKS), (section.inputs, ()), (section.ranges, RANGE_SETS), (unit, UNITS))
    return (
        *places(*named),
        case.model,
        case.variant,
        _op_place(case),
        *places((range_name(case.task), RANGES)),
    )


def _op_place(case: StoredCase) -> tuple[int, list[str | int]]:
    """The position of an operation in the order of its task; then others, `3-step-2` before `3-step-10`."""
    op, known = case.task.op, [*dict.fromkeys((*OPERATIONS, *case.task.ops))]
    return (known.index(op) if op in known else len(known)), numbered(op)


def numbered(text: str) -> list[str | int]:
    """A text as a sort key in which 2 comes before 10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


class Named(Protocol):
    """What has a model and a variant."""

    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def variant(self) -> tuple[str, ...]: ...  # noqa: D102


def labels_of(cases: Sequence[Named]) -> list[str]:
    """A short name for each case's model, the same for the same model and variant."""
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    labels = []
    for case in cases:
        said = "; ".join(case.variant)
        label = f"{case.model} · {said}" if said else case.model
        if said and len(label) > LONGEST_LABEL:
            key = (case.model, case.variant)
            if key not in numbers:
                numbers[key] = 1 + sum(model == case.model for model, _ in numbers)
            steps = [part for part in case.variant if part.startswith("iterations=")]
            label = " · ".join([case.model, *steps, f"variant {numbers[key]}"])
        labels.append(label)
    return labels


def places(*named: tuple[Any, Collection[Any]]) -> Iterator[tuple[int, Any]]:
    """The position of each item among the known ones; unknown items come after them, in their own order."""
    for name, known in named:
        yield (list(known).index(name) if name in known else len(known)), name


def ops_of(rows: Iterable[PageRow]) -> list[str]:
    """Operations in the order of the catalogue, or of their task."""
    found = {row.op: _op_place(row.case) for row in rows}
    return sorted(found, key=found.__getitem__)


def ranges_of(rows: Iterable[PageRow]) -> list[str]:
    """Ranges in the order of the papers; others as they come."""
    return sorted({row.range for row in rows}, key=lambda name: next(places((name, RANGES))))


def budgets_of(rows: Iterable[PageRow]) -> list[Budget]:
    """Budgets: first-order training first, and most steps first."""
    return sorted({row.budget for row in rows}, key=lambda budget: budget.order)
