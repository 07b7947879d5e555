"""The lines of a page: every cell of a store in its section, in the order of the catalogue, with a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from nalm.evaluate.ranking import Budget
from nalm.experiment.stored import StoredCell
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


def section_of(cell: StoredCell) -> Section:
    """Where a cell belongs."""
    known = {field.name: field.default for field in fields(cell.task)}  # type: ignore[arg-type]
    others = [
        (name, getattr(cell.task, name))
        for name, usual in known.items()
        if name not in ("op", "range", "inputs") and getattr(cell.task, name) != usual
    ]
    return Section(cell.task.name, cell.task.inputs, tuple(others), _range_set(cell))


def _range_set(cell: StoredCell) -> str:
    name = range_name(cell.task)
    return next((known for known, members in RANGE_SETS.items() if name in members), "other")


def range_name(task: RangeTask) -> str:
    """The papers' name of a range, or what it is: the same for the same data, however it was written."""
    if task.range in RANGES:
        return task.range
    pair = (task.train_range, task.test_range)
    return next((name for name, known in RANGES.items() if known == pair), f"{pair[0]}=>{pair[1]}")


@dataclass(frozen=True, eq=False)
class Line:
    """A cell in its place.

    Attributes:
        index: its number on the page.
        cell: the stored runs.
        section: where it belongs.
        label: the name of its model and variant.
        second_rank: whether the same model is there with its own recipe and as many steps: this one is then
            hidden at first.
    """

    index: int
    cell: StoredCell
    section: Section
    label: str
    second_rank: bool

    @property
    def op(self) -> str:
        """The operation."""
        return self.cell.task.op

    @property
    def budget(self) -> Budget:
        """With what it may be compared."""
        return budget_of(self.cell)

    @property
    def range(self) -> str:
        """The name of the range, the same however it was written."""
        return range_name(self.cell.task)


def lines_of(cells: Sequence[StoredCell]) -> list[Line]:
    """Cells in the order of the page, each with its section and label."""
    placed = sorted(((section_of(cell), cell) for cell in cells), key=lambda pair: _place(*pair))
    labels = _labels([cell for _, cell in placed])
    plain = {_rank_key(section, cell) for section, cell in placed if not cell.variant}
    return [
        Line(k, cell, section, labels[k], bool(cell.variant) and _rank_key(section, cell) in plain)
        for k, (section, cell) in enumerate(placed)
    ]


def budget_of(cell: StoredCell) -> Budget:
    """How many steps of which kind its runs were given."""
    return Budget(cell.trainer == "second-order", cell.iterations)


def _rank_key(section: Section, cell: StoredCell) -> tuple[Any, ...]:
    """What a variant and the plain model must have in common for one to stand for both."""
    return section, cell.model, cell.task.op, budget_of(cell)


def _place(section: Section, cell: StoredCell) -> tuple[Any, ...]:
    """The order of the page is that of the catalogue; what is not in it comes last."""
    unit = re.split("[@(+]", cell.model)[0]
    named = ((section.task, TASKS), (section.inputs, ()), (section.ranges, RANGE_SETS), (unit, UNITS))
    within = ((cell.task.op, OPERATIONS), (range_name(cell.task), RANGES))
    return *places(*named), cell.model, cell.variant, *places(*within)


def _labels(cells: Sequence[StoredCell]) -> list[str]:
    """A name for each cell's model, the same for the same model and variant, and short."""
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    labels = []
    for cell in cells:
        said = "; ".join(cell.variant)
        label = f"{cell.model} · {said}" if said else cell.model
        if said and len(label) > LONGEST_LABEL:
            key = (cell.model, cell.variant)
            if key not in numbers:
                numbers[key] = 1 + sum(model == cell.model for model, _ in numbers)
            steps = [part for part in cell.variant if part.startswith("iterations=")]
            label = " · ".join([cell.model, *steps, f"variant {numbers[key]}"])
        labels.append(label)
    return labels


def places(*named: tuple[Any, Collection[Any]]) -> Iterator[tuple[int, Any]]:
    """Where each thing stands among those that are known, others after them in their own order."""
    for name, known in named:
        yield (list(known).index(name) if name in known else len(known)), name


def ops_of(lines: Iterable[Line]) -> list[str]:
    """Operations as the catalogue orders them."""
    return sorted({line.op for line in lines}, key=lambda op: next(places((op, OPERATIONS))))


def ranges_of(lines: Iterable[Line]) -> list[str]:
    """Ranges as the papers order them, others as they come."""
    return sorted({line.range for line in lines}, key=lambda name: next(places((name, RANGES))))


def budgets_of(lines: Iterable[Line]) -> list[Budget]:
    """Budgets, those of first-order training and those of most steps first."""
    return sorted({line.budget for line in lines}, key=lambda budget: budget.order)
