"""Test errors of ideal weights where inputs are close to zero (thesis, figure 5.12).

Units compute in float32 as in the thesis. Its NMRU has no epsilon in evaluation. In addition to the thesis's
three units, the RealNPU is measured with an epsilon too small for float32, because the text mentions
epsilon 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nalm.evaluate.intervals import median_interval
from nalm.experiment.compute import ideal_errors
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import found
from nalm.tasks import RANGE_SETS, RangeTask, Reciprocal, SingleModule, Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MODELS = {
    "Real NPU": "realnpu",
    "NRU": "nru",
    "NMRU": "nmru(exact_evaluation=true)",
    "Real NPU, ε = 0": "realnpu(epsilon=1e-30)",
}
_RANGES = RANGE_SETS["near-zero"]
"""The ranges, the nearest to zero first."""
_TASKS = ("reciprocal, 1 input", "reciprocal, 2 inputs", "division, 2 inputs")
_SEEDS = 25


def tasks(name: str) -> Mapping[str, RangeTask]:
    """A task of section 5.8 on all five ranges."""
    if name == _TASKS[2]:
        return {range_: SingleModule("div", range_) for range_ in _RANGES}
    return {range_: Reciprocal("reciprocal", range_, 1 if name == _TASKS[0] else 2) for range_ in _RANGES}


def column(task: str, range_: str) -> str:
    """The name of a column."""
    return f"{task}, U[{range_.replace(':', ',')})"


def gold_errors(model: str, task: RangeTask, seeds: int) -> list[float]:
    """Test errors of ideal weights, one per seed, on 10,000 samples each."""
    case = Case(ModelSpec.parse(model), task)
    runs = [Run(case, seed) for seed in range(seeds)]
    errors = ideal_errors(case.build(), runs, compiled=False)
    return [errors[run][Split.TEST] for run in runs]


def compute(scale: Scale) -> Measured:
    """Median test error over seeds, by unit, task and range."""
    budget = Budget(scale, _SEEDS, quick_seeds=_SEEDS)
    seeds = budget.seeds
    findings: dict[Key, Finding] = {}
    for row, model in _MODELS.items():
        for name in _TASKS:
            for range_, task in tasks(name).items():
                errors = median_interval(gold_errors(model, task, seeds))
                findings[row, column(name, range_), "test error"] = found(errors, seeds)
    return Measured(Findings(findings), budget.fewer_seeds())


def _error(f: Findings, row: str, task: str, range_: str) -> float:
    return f[row, column(task, range_), "test error"].value or 0.0


def larger(row: str, other: str) -> Check:
    """A row has larger errors than another on every task and range."""
    return lambda f: all(_error(f, row, t, r) > _error(f, other, t, r) for t in _TASKS for r in _RANGES)


def grows(row: str, task: str) -> Check:
    """The error grows from range to range towards zero."""

    def check(f: Findings) -> bool:
        errors = [_error(f, row, task, range_) for range_ in _RANGES]
        return all(near > far for near, far in pairwise(errors))

    return check


CLAIMS = (
    *(
        Claim(row, f"the error grows as ranges come closer to zero ({task})", grows(row, task))
        for row in ("Real NPU", "NRU", "NMRU")
        for task in _TASKS
    ),
    Claim("Real NPU", "has larger errors than the NRU on all tasks and ranges", larger("Real NPU", "NRU")),
    Claim("Real NPU", "has larger errors than the NMRU on all tasks and ranges", larger("Real NPU", "NMRU")),
    Claim("Real NPU, ε = 0", "has smaller errors than with ε", larger("Real NPU", "Real NPU, ε = 0")),
)


def draw(measured: Measured, figure: Figure) -> None:
    """One panel per task; errors of exactly 0 are drawn at the bottom."""
    axes = row_of_panels(figure, len(_TASKS), 4.2, 4.2)
    for axis, name in zip(axes, _TASKS):
        for k, row in enumerate(_MODELS):
            cells = [measured.findings[row, column(name, r), "test error"] for r in _RANGES]
            middle = [c.value or 0.0 for c in cells]
            below = [max((c.value or 0.0) - (c.low or 0.0), 0.0) for c in cells]
            above = [max((c.high or 0.0) - (c.value or 0.0), 0.0) for c in cells]
            places = [p + 0.06 * (k - 1.5) for p in range(len(_RANGES))]
            style: dict[str, Any] = {"color": COLOURS[k], "marker": MARKERS[k], "linewidth": 1, "capsize": 2}
            axis.errorbar(places, middle, yerr=[below, above], label=row, **style)
        axis.set_yscale("symlog", linthresh=1e-16)
        if axis.get_ylim()[0] < 0:
            axis.set_ylim(bottom=-4e-17)  # shows errors of exactly 0; none are negative
        axis.set_xticks(range(len(_RANGES)), [f"U[{r.replace(':', ',')})" for r in _RANGES], rotation=30)
        axis.set(title=name.capitalize(), ylabel="test error of ideal weights")
        axis.grid(axis="y", alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
