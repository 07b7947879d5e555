"""What the specs of tables and figures share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Reason
from nalm.papers.entry import Place
from nalm.recipes import Recipe
from nalm.tasks import RANGE_SETS, RangeTask, SingleModule

Change = Callable[[Recipe], Recipe]


@dataclass(frozen=True)
class Series:
    """A row of a table, or a line in a figure.

    Attributes:
        label: its name in the paper.
        model: the model as written on the command line.
        change: what it changes in the model's recipe.
        hidden: number of values between the units of a stack.
        recipe: a recipe for all tasks, instead of the model's.
    """

    label: str
    model: str
    change: Change | None = None
    hidden: int = 2
    recipe: Recipe | None = None

    def case(self, task: RangeTask) -> Case:
        """The series on a task."""
        plain = Case(ModelSpec.parse(self.model), task, other_recipe=self.recipe, hidden=self.hidden)
        if self.change is None:
            return plain
        return replace(plain, other_recipe=self.change(plain.named_recipe))


def table(
    series: Iterable[Series], tasks: Mapping[str, RangeTask], reason: Reason | None = None
) -> Callable[[], list[Place]]:
    """The cells of a table: every series on every task; tasks are given by the name of their column."""
    rows = tuple(series)
    return lambda: [
        Place(row.label, column, (row.case(task),), reason) for row in rows for column, task in tasks.items()
    ]


def pooled(
    series: Iterable[Series], groups: Mapping[str, Sequence[RangeTask]], reason: Reason | None = None
) -> Callable[[], list[Place]]:
    """The cells of a table whose columns pool several tasks."""
    rows = tuple(series)
    return lambda: [
        Place(row.label, column, tuple(row.case(task) for task in tasks), reason)
        for row in rows
        for column, tasks in groups.items()
    ]


def joined(*parts: Callable[[], list[Place]]) -> Callable[[], list[Place]]:
    """The cells of several tables in one."""
    return lambda: [place for part in parts for place in part()]


LABELS = {
    "mixed-1": "U[-2,-0.1) & U[0.1,2)",
    "mixed-2": "U[-2,-1) & U[1,2)",
    "mixed-3": "U[-2,2)",
    "mixed-4": "U[0.1,2) & U[-2,-0.1)",
    "mixed-5": "U[1,2) & U[-2,-1)",
    "tn-minus-1": "TN(-1,3)[-5,10)",
    "tn-0": "TN(0,1)[-5,5)",
    "tn-1": "TN(1,3)[-10,5)",
    "benford": "B[10,100)",
}


def label(name: str) -> str:
    """A range as the thesis writes it."""
    return LABELS.get(name) or f"U[{name.replace(':', ',')})"


def single_module(op: str, ranges: str = "uniform", inputs: int = 2) -> dict[str, RangeTask]:
    """The single module task on a set of ranges, by the name of the column."""
    return {label(name): SingleModule(op, name, inputs) for name in RANGE_SETS[ranges]}
