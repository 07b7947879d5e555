"""Runs of tasks that are judged in several ways at once, such as by the size of numbers: one column per way.

The share of runs that succeed is the main number, the median error the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, FewerRuns, chosen_rows, fewer
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale, shortened
from nalm.papers.shared.findings import median, share
from nalm.tasks import Facet, Task

ERROR = "error"


@dataclass(frozen=True)
class FacetRow:
    """A model on a task.

    Attributes:
        row: its name in the entry.
        model: the model as written on the command line.
        task: the task, whose facets say what success is.
        of: the task in whose columns it stands, if another: a variant of ours beside what is published.
    """

    row: str
    model: str
    task: Task
    of: Task | None = None

    def at(self, scale: Scale) -> Case:
        """What is trained for it at a scale."""
        case = Case(ModelSpec.parse(self.model), self.task, schedule="scaled")
        return case if scale.steps is None else shortened(case, scale.steps)


def column(task: Task, facet: Facet) -> str:
    """The name of a column: the labels of the task and of the facet."""
    own = ", ".join(str(value) for value in task.labels().values())
    return ", ".join([own, *(f"{name} {value}" for name, value in facet.labels.items())])


def columns(task: Task) -> list[str]:
    """The columns of a task."""
    return [column(task, facet) for facet in task.facets()]


@dataclass(frozen=True)
class FacetLayout:
    """Rows of runs, with a column for each facet of their tasks.

    Attributes:
        entry: the name of the entry.
        rows: what is trained.
        seeds: the number of seeds; the papers state none.
    """

    entry: str
    rows: tuple[FacetRow, ...]
    seeds: int = 10

    def wanted(self, scale: Scale) -> list[FacetRow]:
        """The rows that the scale asks for."""
        names = chosen_rows(scale, (row.row for row in self.rows))
        return [row for row in self.rows if row.row in names]

    def budget(self, scale: Scale) -> Budget:
        """Seeds and steps at a scale."""
        return Budget(scale, self.seeds, self.seeds)

    def plan(self, scale: Scale) -> list[Experiment]:
        """Every case once."""
        cases = dict.fromkeys(row.at(scale) for row in self.wanted(scale))
        return [Experiment(self.entry, tuple(cases), self.budget(scale).seeds)]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """Success and median error of every row on every facet."""
        wanted = self.wanted(scale)
        held = [(row, runs) for row in wanted if (runs := records.get(row.at(scale)))]
        found: dict[Key, Finding] = {}
        for row, runs in held:
            for facet in row.task.facets():
                errors = [error_on(record, facet) for record in runs]
                place = row.row, column(row.of or row.task, facet)
                found[*place, "success"] = share([error < (facet.below or 0.0) for error in errors])
                found[*place, ERROR] = median(errors)
        notes = [*self.budget(scale).reduced()]
        notes += [FewerRuns(note) for note in fewer("cells", len(held), len(wanted))]
        count = sum(len(runs) for _, runs in held)
        return Measured(Findings(found), notes, partial=len(held) < len(wanted), runs=count)


def error_on(record: Record, facet: Facet) -> float:
    """The error of a run on a facet at its chosen step."""
    curve = np.asarray(record.errors[facet.curve])
    return float(curve[record.chosen] if facet.index is None else curve[facet.index, record.chosen])


def columns_of(tasks: Sequence[Task]) -> list[str]:
    """The columns of several tasks."""
    return [name for task in tasks for name in columns(task)]
