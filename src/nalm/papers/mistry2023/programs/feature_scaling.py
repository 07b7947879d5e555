"""Thesis, section 6.1 and figure 6.1: the NMU behind feature scaling, on the single module task.

Every variant starts from the same weights of the NMU and sees the same batches as the NMU of the benchmark.
The statistics of each range come from training data that are drawn once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nalm.models.many import Models, Parameters
from nalm.models.scaling import Scaled
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS, MARKERS
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.series import label
from nalm.recipes import Recipe
from nalm.recipes.distances import distance_to_bit
from nalm.recipes.steps import shorter
from nalm.tasks import RANGE_SETS, SingleModule, Split, Task
from nalm.tasks.sampling import Aside, sample
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs
from nalm.units import NMU

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = 100_000
"""Training data that the statistics of a range come from."""
Scaling = Callable[[nn.Module, Tensor, Tensor], nn.Module]


@dataclass(frozen=True)
class Variant:
    """A row of the figure: a way to scale, and whether the penalty on weights is on."""

    scaling: Scaling | None
    penalised: bool

    def module(self, x: Tensor, y: Tensor) -> nn.Module:
        """The NMU, scaled by these training data."""
        unit = NMU(2, 1)
        return unit if self.scaling is None else self.scaling(unit, x, y)

    def recipe(self) -> Recipe:
        """That of the benchmark, with or without its penalty."""
        published = NMU.recipe("mul")
        return published if self.penalised else replace(published, penalties=())


SCALINGS: dict[str, Scaling | None] = {"NMU": None, "min-max": Scaled.min_max, "z-score": Scaled.z_score}
VARIANTS = {
    f"{name} (reg {word})": Variant(scaling, word == "on")
    for word in ("off", "on")
    for name, scaling in SCALINGS.items()
}


def compute(scale: Scale) -> Measured:
    """Train all variants on the nine ranges."""
    budget = Budget(scale, 25)
    found: dict[Key, Finding] = {}
    thresholds = {label(name): SingleModule("mul", name).threshold() for name in RANGE_SETS["uniform"]}
    for row in chosen_rows(scale, VARIANTS):
        result = _train(VARIANTS[row], budget)
        for k, column in enumerate(thresholds):
            runs = range(k * budget.seeds, (k + 1) * budget.seeds)
            for metric, finding in _measures(result, runs).items():
                found[row, column, metric] = finding
    return Measured(Findings(found), budget.reduced(), thresholds)


def _train(variant: Variant, budget: Budget) -> TrainResult:
    """All seeds on all ranges in one program, range by range."""
    each = list(range(budget.seeds))
    tasks = [SingleModule("mul", name) for name in RANGE_SETS["uniform"] for _ in each]
    seeds = each * len(RANGE_SETS["uniform"])
    recipe = shorter(variant.recipe(), budget.factor)
    made = [variant.module(*training_data(SingleModule("mul", name))) for name in RANGE_SETS["uniform"]]
    return train_runs(made[0], tasks, [recipe] * len(tasks), seeds, initial=_initial(made, each))


def training_data(task: Task, samples: int = SAMPLES) -> tuple[Tensor, Tensor]:
    """Inputs and targets that statistics come from, apart from those that are trained on."""
    return sample(task, 0, Split.TRAIN, samples, dtype=torch.float32, aside=Aside.STATISTICS)


def _initial(made: list[nn.Module], seeds: list[int]) -> Parameters:
    """Those of each module for every seed, and of the NMU in it those that the benchmark draws."""
    held = [dict(module.named_parameters()) for module in made]
    initial = {
        name: torch.stack([each[name].detach() for each in held]).repeat_interleave(len(seeds), 0)
        for name in held[0]
    }
    drawn = Models(NMU(2, 1), torch.float32, torch.device("cpu")).initial(torch.tensor(seeds).int())
    (name,) = (name for name in initial if name.endswith("weight"))
    return {**initial, name: drawn["weight"].repeat(len(made), 1, 1)}


def _measures(result: TrainResult, runs: range) -> dict[str, Finding]:
    """Success, errors and sparsity error of some runs, of all of them whether solved or not."""
    part = slice(runs.start, runs.stop)
    outcomes = result.outcomes()[part]
    (weight,) = (p for name, p in result.chosen_parameters.items() if name.endswith("weight"))
    sparsity = distance_to_bit(weight[part]).flatten(1).amax(-1)
    return {
        "success": share([outcome == "solved" for outcome in outcomes]),
        "test error": median(result.chosen_error(Split.TEST)[part].tolist()),
        "validation error": median(result.chosen_error(Split.VALIDATION)[part].tolist()),
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
"""What an error of exactly zero is drawn at, on an axis of powers of ten."""
