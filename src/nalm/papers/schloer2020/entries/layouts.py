"""Tables of the iNALU's authors: what is trained for them, what is measured, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.metrics import Metric
from nalm.papers.scale import Scale
from nalm.papers.schloer2020.programs import runs
from nalm.papers.schloer2020.programs.layers import KINDS
from nalm.papers.schloer2020.programs.tasks import FUNCTIONS, FourOperations
from nalm.papers.schloer2020.programs.training import ADAM, BEST, EpochPlan, Optimiser, Start
from nalm.papers.shared.findings import measure, median, share
from nalm.tasks import Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = EpochPlan()
_QUICK_SEEDS, _QUICK_EPOCHS = 2, 0.2
_THRESHOLD = 1e-5
"""A run succeeds if its mean squared error after the last epoch is below this."""

METRICS = (
    measure("interpolation success", "interpolation", rising=True),
    measure("success", "", rising=True),
)
ERROR = measure("error", "extrapolation error")
"""The median error on the extrapolation set."""
_SETS = {"interpolation success": Split.VALIDATION, "success": Split.TEST}


@dataclass(frozen=True)
class Arm:
    """What a row of a table trains.

    Attributes:
        kind: the name of the kind of layer.
        experiment: its tasks, one of `runs.EXPERIMENTS`.
        optimiser: by which it is trained.
        start: what its variables are drawn from.
    """

    kind: str
    experiment: str
    optimiser: Optimiser = ADAM
    start: Start = BEST


def arms(experiment: str, optimiser: Optimiser = ADAM, label: str = "{}") -> dict[str, Arm]:
    """Every kind of layer on an experiment, by its row."""
    return {label.format(kind.name): Arm(kind.name, experiment, optimiser) for kind in KINDS}


@dataclass(frozen=True)
class Layout:
    """A table: arms by rows, operations and distributions by columns.

    Attributes:
        entry: the name of the entry.
        rows: the arms by their rows.
        metrics: what is measured.
        seeds: number of seeds in the full protocol.
        epochs: number of epochs in the full protocol.
    """

    entry: str
    rows: dict[str, Arm]
    metrics: tuple[Metric, ...] = METRICS
    seeds: int = 10
    epochs: int = field(default=WHOLE.epochs)

    def budget(self, scale: Scale) -> Budget:
        """Seeds and epochs at a scale."""
        return Budget(scale, self.seeds, _QUICK_SEEDS, _QUICK_EPOCHS)

    def cases(self, scale: Scale) -> dict[tuple[str, str], Case]:
        """Every arm on each of its tasks, by row and column."""
        epochs = self.budget(scale).steps(self.epochs)
        made = {}
        for row in chosen_rows(scale, self.rows):
            arm = self.rows[row]
            for name in FUNCTIONS:
                for place in range(len(runs.EXPERIMENTS[arm.experiment].distributions)):
                    task = runs.OneOperation(arm.experiment, name, place)
                    case = runs.case(arm.kind, task, epochs, WHOLE.samples, arm.optimiser, arm.start)
                    made[row, f"{name} {task.distribution}"] = case
        return made

    def plan(self, scale: Scale) -> list[Experiment]:
        """Every case, trained for every seed."""
        return [Experiment(self.entry, tuple(self.cases(scale).values()), self.budget(scale).seeds)]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """Count the seeds that succeed on both sets; where it is asked for, also the error."""
        found: dict[Key, Finding] = {}
        for (row, column), case in self.cases(scale).items():
            for metric in self.metrics:
                ends = [getattr(r, _SETS.get(metric.name, Split.TEST))[-1] for r in records[case]]
                solved = [bool(end < _THRESHOLD) for end in ends]
                found[row, column, metric.name] = median(ends) if metric is ERROR else share(solved)
        budget = self.budget(scale)
        return Measured(Findings(found), budget.fewer_seeds() + budget.fewer_steps(self.epochs, "epochs"))


def columns(task: FourOperations, *operations: str) -> list[str]:
    """The columns of these operations."""
    return [f"{name} {found.label}" for name in operations for found in task.distributions]


def draw(measured: Measured, figure: Figure) -> None:
    """Success as colours: one panel per set, arms by columns."""
    found = measured.findings
    rows = list(dict.fromkeys(row for row, _, _ in found))
    names = list(dict.fromkeys(column for _, column, _ in found))
    figure.set_size_inches(3.2 + 0.42 * len(names), 2.9 + 0.6 * len(rows))
    axes = figure.subplots(2, 1, sharex=True)
    for axis, (metric, title) in zip(axes, zip(_SETS, ("Interpolation", "Extrapolation"))):
        values = [[found[row, name, metric].value for name in names] for row in rows]
        image = axis.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto")
        _write(axis, values)
        axis.set_title(title)
        axis.set_yticks(range(len(rows)), rows)
    axes[-1].set_xticks(range(len(names)), names, rotation=45, ha="right")
    figure.colorbar(image, ax=axes, label="Success rate")


def _write(axis, values: Sequence[Sequence[float | None]]) -> None:  # type: ignore[no-untyped-def]
    """Every rate in its cell, dark on light and light on dark."""
    for k, line in enumerate(values):
        for j, value in enumerate(line):
            shade = "black" if (value or 0) > 0.6 else "white"
            axis.text(j, k, f"{value:.1f}", ha="center", va="center", color=shade, fontsize=7)
