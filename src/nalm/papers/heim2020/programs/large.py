"""Heim et al. 2020, table 2: a layer of sums and a layer of products on 100 inputs.

NAU(100, 100) before the unit (100, 1), or two NALUs; all weights start in U(0, 0.1), imaginary ones at 0,
gates at 1. RMSProp, batches of 128 Sobol points, an L1 penalty that grows tenfold every 10,000 steps. The
median of 10 runs plus and minus the median absolute deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.heim2020.programs.units import ForwardClippedNMU
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median_deviation
from nalm.papers.shared.large_scale import Sums
from nalm.papers.shared.networks import drawn_by
from nalm.recipes import L1, Growth, Recipe, RMSProp
from nalm.recipes.initialisers import Constant, Initialiser, Uniform
from nalm.recipes.steps import shorter
from nalm.training.trainers import train_runs
from nalm.units import NALU, NAU, NPU, RealNPU, Unit

STEPS = 100_000
INPUTS = 100


@dataclass(frozen=True)
class Column:
    """An operation of the table with its ranges, rate, and the ends of the penalty's growth."""

    op: str
    range: str
    rate: float
    first: float
    last: float

    def task(self) -> Sums:
        """The data."""
        return Sums(self.op, self.range, "heim", sobol=True)

    def recipe(self) -> Recipe:
        """RMSProp and the growing penalty on all parameters; nothing is clamped."""
        return Recipe(
            penalties=(L1(1.0, Growth(self.first, self.last)),),
            optimiser=RMSProp(self.rate, decay=0.9),
            clamps=(),
            iterations=STEPS,
        )


COLUMNS = (
    Column("add", "-1:1=>-2:2", 1e-2, 1e-5, 1e-4),
    Column("mul", "-1:1=>-2:2", 5e-3, 1e-5, 1e-4),
    Column("recip", "0:0.5=>-0.5:0", 5e-3, 1e-9, 1e-7),
    Column("sqrt", "0:2=>0:4", 5e-3, 1e-6, 1e-4),
)


def _after_sums(last: Callable[[], Unit]) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(NAU(INPUTS, INPUTS, clamp=False), last())


ROWS: dict[str, Callable[[], nn.Module]] = {
    "NPU": _after_sums(lambda: NPU(INPUTS, 1, gate_gradient="straight-through")),
    "Real NPU": _after_sums(lambda: RealNPU(INPUTS, 1, gate_gradient="straight-through")),
    "NALU": lambda: nn.Sequential(NALU(INPUTS, INPUTS), NALU(INPUTS, 1)),
    "NMU": _after_sums(lambda: ForwardClippedNMU(INPUTS, 1)),
    "NaiveNPU": _after_sums(lambda: NPU(INPUTS, 1, relevance=False)),
}


def compute(scale: Scale) -> Measured:
    """Train every stack on every operation."""
    budget = Budget(scale, 10, quick_steps=0.02)
    found: dict[Key, Finding] = {}
    for row in chosen_rows(scale, ROWS):
        errors = _errors(ROWS[row](), budget)
        for k, column in enumerate(COLUMNS):
            part = errors[k * budget.seeds : (k + 1) * budget.seeds]
            found[row, column.op, "test error"] = median_deviation(part)
    return Measured(Findings(found), budget.reduced())


def _errors(model: nn.Module, budget: Budget) -> list[float]:
    """Test errors after the last step: all seeds of the first operation, of the second, and so on."""
    seeds = list(range(budget.seeds)) * len(COLUMNS)
    columns = [column for column in COLUMNS for _ in range(budget.seeds)]
    recipes = [shorter(column.recipe(), budget.factor) for column in columns]
    result = train_runs(
        model,
        [column.task() for column in columns],
        recipes,
        seeds,
        log_interval=recipes[0].iterations,
        initial=initial(model, seeds),
    )
    return torch.as_tensor(result.test)[:, -1].tolist()


def initial(model: nn.Module, seeds: Sequence[int]) -> Parameters:
    """Weights in U(0, 0.1), imaginary ones 0, gates of the power units 1."""
    schemes: dict[str, Initialiser] = {name: Uniform(0.0, 0.1) for name, _ in model.named_parameters()}
    for path, unit in model.named_modules():
        if isinstance(unit, RealNPU):
            schemes |= {f"{path}.gate": Constant(1.0), f"{path}.imaginary": Constant(0.0)}
    return drawn_by(model, schemes, seeds)
