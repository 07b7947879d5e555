"""Errors relative to those of untrained models, as in tables 1, 6, 7 and 9 of Trask et al. 2018.

For the static tasks the paper divides by "one randomly initialized model for each task" and does not say
which: here it is a linear model of two layers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from nalm.engine.many_runs import evaluate_runs
from nalm.evaluate.intervals import Interval, median_interval
from nalm.models import ModelSpec
from nalm.models.many import Models
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Grid, Measured, Runner
from nalm.papers.metrics import Metric, Runs
from nalm.papers.scale import Scale
from nalm.recipes import Recipe
from nalm.tasks import RangeTask, Split
from nalm.trained import RunGroup


def _error(split: str) -> Callable[[Runs], Interval]:
    """The median of the mean squared errors at the chosen step."""

    def measure(runs: Runs) -> Interval:
        return median_interval([float(getattr(run.record, split)[run.record.chosen]) for run in runs])

    return measure


INTERPOLATION = Metric("interpolation error", "interpolation", False, _error(Split.VALIDATION))
EXTRAPOLATION = Metric("extrapolation error", "extrapolation", False, _error(Split.TEST))
_SPLITS = {INTERPOLATION.name: Split.VALIDATION, EXTRAPOLATION.name: Split.TEST}


@functools.lru_cache(maxsize=64)
def untrained_errors(task: RangeTask, seeds: int) -> dict[Split, float]:
    """The median errors of linear models with the initial weights of their seeds."""
    model = ModelSpec.parse("linear+linear").build(task.inputs, 1)
    models = Models(model, torch.float32, torch.device("cpu"))
    initial = models.initial(torch.arange(seeds, dtype=torch.int32))
    tasks, recipes = [task] * seeds, [Recipe()] * seeds
    errors = evaluate_runs(RunGroup(model, tasks, recipes, range(seeds), initial), compiled=False)
    return {split: float(np.median(error.numpy())) for split, error in errors.items()}


def scaled(finding: Finding, factor: float) -> Finding:
    """A number and its interval, times a factor."""
    value, low, high = (None if x is None else factor * x for x in (finding.value, finding.low, finding.high))
    return Finding(value, low, high, finding.n)


@dataclass(frozen=True)
class Relative(Grid):
    """A grid whose errors are divided by those of untrained models on the same task.

    Attributes:
        unit: the value that the error of an untrained model is scaled to: 100 in tables of percentages.
    """

    unit: float = 100.0

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """The errors of the trained models, divided."""
        measured = super().measure(scale, run)
        tasks = {place.column: place.cases[0].task for place in self.places.values()}
        found: dict[Key, Finding] = {}
        for (row, column, metric), finding in measured.findings.items():
            untrained = untrained_errors(tasks[column], self.budget(scale).seeds)[_SPLITS[metric]]
            found[row, column, metric] = scaled(finding, self.unit / untrained)
        return replace(measured, findings=Findings(found))
