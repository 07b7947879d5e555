"""The rows of a page: every case of a store in its section, in the order of the catalogue, with a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

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
    """Where a case belongs."""
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
    """The papers' name of a range, or what it is: the same for the same data, however it was written."""
    if task.range in RANGES:
        return task.range
    pair = (task.train_range, task.test_range)
    return next((name for name, known in RANGES.items() if known == pair), f"{pair[0]}=>{pair[1]}")


@dataclass(frozen=True, eq=False)
class PageRow:
    """A case in its place.

    Attributes:
        index: its number on the page.
        case: the stored runs.
        section: where it belongs.
        label: the name of its model and variant.
        second_rank: whether the same model is there with its own recipe and as many steps: this one is then
            hidden at first.
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
        """With what it may be compared."""
        return budget_of(self.case)

    @property
    def range(self) -> str:
        """The name of the range, the same however it was written."""
        return range_name(self.case.task)


def page_rows_of(cases: Sequence[StoredCase]) -> list[PageRow]:
    """Cases in the order of the page, each with its section and label."""
    placed = sorted(((section_of(case), case) for case in cases), key=lambda pair: _place(*pair))
    labels = _labels([case for _, case in placed])
    plain = {_rank_key(section, case) for section, case in placed if not case.variant}
    return [
        PageRow(k, case, section, labels[k], bool(case.variant) and _rank_key(section, case) in plain)
        for k, (section, case) in enumerate(placed)
    ]


def budget_of(case: StoredCase) -> Budget:
    """How many steps of which kind its runs were given."""
    return Budget(case.trainer == "second-order", case.iterations)


def _rank_key(section: Section, case: StoredCase) -> tuple[Any, ...]:
    """What a variant and the plain model must have in common for one to stand for both."""
    return section, case.model, case.task.op, budget_of(case)


def _place(section: Section, case: StoredCase) -> tuple[Any, ...]:
    """The order of the page is that of the catalogue; what is not in it comes last."""
    unit = re.split("[@(+]", case.model)[0]
    named = ((section.task, TASKS), (section.inputs, ()), (section.ranges, RANGE_SETS), (unit, UNITS))
    within = ((case.task.op, OPERATIONS), (range_name(case.task), RANGES))
    return *places(*named), case.model, case.variant, *places(*within)


def _labels(cases: Sequence[StoredCase]) -> list[str]:
    """A name for each case's model, the same for the same model and variant, and short."""
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
    """Where each thing stands among those that are known, others after them in their own order."""
    for name, known in named:
        yield (list(known).index(name) if name in known else len(known)), name


def ops_of(rows: Iterable[PageRow]) -> list[str]:
    """Operations as the catalogue orders them."""
    return sorted({row.op for row in rows}, key=lambda op: next(places((op, OPERATIONS))))


def ranges_of(rows: Iterable[PageRow]) -> list[str]:
    """Ranges as the papers order them, others as they come."""
    return sorted({row.range for row in rows}, key=lambda name: next(places((name, RANGES))))


def budgets_of(rows: Iterable[PageRow]) -> list[Budget]:
    """Budgets, those of first-order training and those of most steps first."""
    return sorted({row.budget for row in rows}, key=lambda budget: budget.order)
