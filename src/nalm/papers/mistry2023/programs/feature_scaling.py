"""Thesis, section 6.1 and figure 6.1: the NMU behind feature scaling, on the single module task.

Every variant starts from the same NMU weights and sees the same batches as the NMU of the benchmark. The
statistics of each range come from training data that are drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from nalm.experiment.bench import Experiment
from nalm.experiment.rows import judged_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel, ModelSpec
from nalm.models.many import Models, Parameters
from nalm.models.scaling import Scaled
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.figures import COLOURS, MARKERS
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.networks import stacked
from nalm.papers.shared.series import label
from nalm.recipes import Recipe
from nalm.recipes.distances import distance_to_bit
from nalm.recipes.steps import shorter
from nalm.tasks import RANGE_SETS, SingleModule, Split, Task
from nalm.tasks.sampling import Aside, sample
from nalm.units import NMU

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = 100_000
"""Training samples that the statistics of a range are computed from."""
SCALINGS: dict[str, Callable[[nn.Module, Tensor, Tensor], nn.Module] | None] = {
    "NMU": None,
    "min-max": Scaled.min_max,
    "z-score": Scaled.z_score,
}


@dataclass(frozen=True)
class BehindScaling(SingleModule):
    """The single module task with a network that scales by the statistics of its range."""

    scaling: str = "min-max"

    name = "feature-scaling"

    def shape(self) -> Hashable:
        """Also the scaling."""
        return (super().shape(), self.scaling)

    def network(self, unit: nn.Module) -> nn.Module:
        """The unit between the scalings of its inputs and output."""
        scaled = SCALINGS[self.scaling]
        assert scaled is not None
        return scaled(unit, *training_data(self))

    def identity(self) -> dict[str, Any]:
        """Also the scaling."""
        return {**super().identity(), "scaling": self.scaling}

    def labels(self) -> dict[str, str | int]:
        """Also the scaling."""
        return {**super().labels(), "scaling": self.scaling}


@dataclass(frozen=True)
class Variant:
    """A row of the figure: a scaling, and whether weights are penalised."""

    scaling: str
    penalised: bool

    def case(self, range: str, factor: float) -> Case:
        """The variant on a range, with `factor` of the steps; without scaling, a case of the benchmark."""
        recipe = shorter(self.recipe(), factor)
        if SCALINGS[self.scaling] is None:
            return Case(ModelSpec.parse("nmu"), SingleModule("mul", range), other_recipe=recipe)
        model = GivenModel("mistry2023:NMU", NMU, initial)
        return Case(model, BehindScaling("mul", range, scaling=self.scaling), other_recipe=recipe)

    def recipe(self) -> Recipe:
        """The recipe of the benchmark, with or without its penalty."""
        published = NMU.recipe("mul")
        return published if self.penalised else replace(published, penalties=())


VARIANTS = {
    f"{name} (reg {word})": Variant(name, word == "on") for word in ("off", "on") for name in SCALINGS
}


def training_data(task: Task, samples: int = SAMPLES) -> tuple[Tensor, Tensor]:
    """Inputs and targets that statistics are computed from; none of them is trained on."""
    return sample(task, 0, Split.TRAIN, samples, dtype=torch.float32, aside=Aside.STATISTICS)


def initial(network: nn.Module, seeds: Sequence[int]) -> Parameters:
    """The network's own parameters for every seed, but NMU weights as the benchmark draws them."""
    held = {name: p.detach().repeat(len(seeds), *[1] * p.dim()) for name, p in network.named_parameters()}
    nmu = Models(NMU(2, 1), torch.float32, torch.device("cpu"))
    return {**held, _weight(held): nmu.initial(torch.tensor(seeds).int())["weight"]}


def _weight(parameters: Iterable[str]) -> str:
    """The name of the NMU's weights."""
    (name,) = (name for name in parameters if name.endswith("weight"))
    return name


def _budget(scale: Scale) -> Budget:
    return Budget(scale, 25)


def cases(scale: Scale) -> dict[tuple[str, str], Case]:
    """All variants on the nine ranges, by row and column."""
    factor = _budget(scale).factor
    return {
        (row, label(range)): VARIANTS[row].case(range, factor)
        for row in chosen_rows(scale, VARIANTS)
        for range in RANGE_SETS["uniform"]
    }


def plan(scale: Scale) -> list[Experiment]:
    """All variants on the nine ranges, trained for every seed."""
    return [Experiment("mistry2023:fig6.1", tuple(cases(scale).values()), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """Success and errors of all variants on the nine ranges."""
    found: dict[Key, Finding] = {}
    for (row, column), case in cases(scale).items():
        for metric, finding in _measures(case, records[case]).items():
            found[row, column, metric] = finding
    thresholds = {label(name): SingleModule("mul", name).threshold() for name in RANGE_SETS["uniform"]}
    return Measured(Findings(found), _budget(scale).reduced(), thresholds)


def _measures(case: Case, records: Sequence[Record]) -> dict[str, Finding]:
    """Success, errors and sparsity error over all runs, solved or not."""
    weights = stacked(record.chosen_parameters for record in records)
    sparsity = distance_to_bit(weights[_weight(weights)]).flatten(1).amax(-1)
    return {
        "success": share([run.assessment.outcome == "solved" for run in judged_runs(case, records)]),
        "test error": median([float(record.test[record.chosen]) for record in records]),
        "validation error": median([float(record.validation[record.chosen]) for record in records]),
        "sparsity of all": median(sparsity.tolist()),
    }


_PANELS = {
    "test error": "Extrapolation error",
    "validation error": "Interpolation error",
    "sparsity of all": "Sparsity error",
}


def draw(measured: Measured, figure: Figure) -> None:
    """Median errors of every variant on every range, with the thresholds of success."""
    figure.set_size_inches(13, 4.6)
    axes = figure.subplots(1, len(_PANELS))
    for axis, (metric, title) in zip(axes, _PANELS.items()):
        _panel(axis, metric, measured)
        axis.set_title(title)
    for place, threshold in enumerate(measured.data.values()):
        words = "Threshold" if place == 0 else None
        axes[0].hlines(threshold, place - 0.45, place + 0.45, color="red", linewidth=1.2, label=words)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle("Multiplication behind feature scaling: median of all seeds")


def _panel(axis: Axes, metric: str, measured: Measured) -> None:
    found, columns = measured.findings, list(measured.data)
    rows = [row for row in VARIANTS if (row, columns[0], metric) in found]
    for k, row in enumerate(rows):
        findings = [found[row, column, metric] for column in columns]
        values = [max(finding.value or 0.0, _LEAST) for finding in findings]
        below = [v - max(f.low or 0.0, _LEAST) for v, f in zip(values, findings)]
        above = [max((f.high or v) - v, 0.0) for v, f in zip(values, findings)]
        colour, open_ = COLOURS[k % len(SCALINGS)], row.endswith("(reg off)")
        axis.errorbar(
            [place + 0.8 * ((k + 0.5) / len(rows) - 0.5) for place in range(len(columns))],
            values,
            yerr=[below, above],
            linestyle="none",
            color=colour,
            marker=MARKERS[k % len(SCALINGS)],
            markerfacecolor="white" if open_ else colour,
            markersize=4,
            elinewidth=0.8,
            label=row,
        )
    axis.set_yscale("log")
    axis.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    axis.grid(axis="y", alpha=0.3)
    for edge in range(1, len(columns)):
        axis.axvline(edge - 0.5, color="0.9", linewidth=0.8)


_LEAST = 1e-16
"""Errors of exactly zero are drawn here, because the axis is logarithmic."""
