"""Heim et al. 2020, table 1: one network of two layers for x + y, x y, x / y and sqrt(x) at once.

Trained on x and y from U(0.1, 2), tested on a grid from -4.1 to 3.9 (for the root, from 0.1 to 4) by the mean
absolute error after the last step; reported is the median of 20 runs plus and minus the median absolute
deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.models.baselines import MLP
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.heim2020.programs.units import ForwardClippedNMU, InputGatedINALU
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median_deviation
from nalm.papers.shared.networks import drawn_by, final_model
from nalm.recipes import Adam, Initialise, Optimiser, Recipe, RMSProp
from nalm.recipes.initialisers import Initialiser, xavier_uniform
from nalm.tasks import Task
from nalm.tasks._base import Numbers
from nalm.units import NALU, NAU, NPU, RealNPU

FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": lambda x, y: x.sqrt(),
}
STEPS = 20_000
_HIDDEN = 6


@dataclass(frozen=True)
class FourFunctions(Task):
    """All four functions of two inputs from U(0.1, 2)."""

    name = "four-functions"
    in_features = 2
    out_features = len(FUNCTIONS)

    def shape(self) -> Hashable:
        """There is one such task."""
        return (type(self),)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The range, which is the same for all splits: tests on a grid come after training."""
        return {"low": 0.1, "span": 1.9}

    def identity(self) -> dict[str, Any]:
        """There is one such task."""
        return {"name": self.name, "inputs": self.in_features, "outputs": self.out_features}

    def labels(self) -> dict[str, str | int]:
        """The functions."""
        return {"functions": ", ".join(FUNCTIONS)}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        low, span = (numbers[name].to(u.dtype)[:, None, None] for name in ("low", "span"))
        x = low + span * u
        return x.mT, torch.stack([function(x[:, 0], x[:, 1]) for function in FUNCTIONS.values()], -1)


@dataclass(frozen=True)
class Row:
    """A network of the table: its layers, its optimiser, and how layers are initialised, by name."""

    make: Callable[[int, int], nn.Module]
    optimiser: Optimiser
    initialise: tuple[Initialise, ...] = ()
    draw: Callable[[nn.Module, Sequence[int]], Parameters] | None = None

    def case(self, label: str, steps: int) -> Case:
        """The case: fresh batches of 100, the mean squared error, and no clamps."""
        recipe = Recipe(
            optimiser=self.optimiser,
            initialise=self.initialise,
            clamps=(),
            batch_size=100,
            iterations=steps,
        )
        model = GivenModel(f"heim2020-table1:{label}", self.make, self.draw)
        return Case(model, FourFunctions(), other_recipe=recipe)


def _power(kind: type[RealNPU], inputs: int, outputs: int) -> nn.Module:
    first = kind(inputs, _HIDDEN, gate_gradient="straight-through")
    return nn.Sequential(first, NAU(_HIDDEN, outputs, clamp=False))


def _twice(kind: type[NALU] | type[InputGatedINALU], inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(kind(inputs, _HIDDEN), kind(_HIDDEN, outputs))


def _nmu(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(ForwardClippedNMU(inputs, _HIDDEN), NAU(_HIDDEN, outputs, clamp=False))


def _dense(inputs: int, outputs: int) -> nn.Module:
    return MLP(inputs, outputs, hidden=(50, 50), activation="sigmoid")


def _xavier(model: nn.Module, seeds: Sequence[int]) -> Parameters:
    """Xavier's uniform scheme for the weights of an ordinary network; its biases are 0."""
    schemes: dict[str, Initialiser] = {
        name: xavier_uniform(p.shape[1], p.shape[0]) for name, p in model.named_parameters() if p.dim() == 2
    }
    return drawn_by(model, schemes, seeds)


_GLOROT_NAU = (Initialise("weight", "xavier", unit="nau"),)
_GLOROT_NALU = (Initialise("w_hat", "xavier"), Initialise("m_hat", "xavier"))
ROWS = {
    "NPU": Row(partial(_power, NPU), Adam(5e-3), _GLOROT_NAU),
    "Real NPU": Row(partial(_power, RealNPU), Adam(5e-3), _GLOROT_NAU),
    "NMU": Row(_nmu, Adam(5e-3), _GLOROT_NAU),
    "NALU": Row(partial(_twice, NALU), RMSProp(5e-3, decay=0.9), _GLOROT_NALU),
    "iNALU": Row(partial(_twice, InputGatedINALU), RMSProp(1e-3, decay=0.9)),
    "Dense": Row(_dense, Adam(5e-3), draw=_xavier),
}


def _budget(scale: Scale) -> Budget:
    return Budget(scale, 20, quick_steps=0.1)


def cases(scale: Scale) -> dict[str, Case]:
    """The networks of the rows that the scale asks for."""
    steps = _budget(scale).steps(STEPS)
    return {label: ROWS[label].case(label, steps) for label in chosen_rows(scale, ROWS)}


def plan(scale: Scale) -> list[Experiment]:
    """Every network, trained for every seed."""
    return [Experiment("heim2020:table1", tuple(cases(scale).values()), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """Test every network on the grids, after its last step."""
    found: dict[Key, Finding] = {}
    for label, case in cases(scale).items():
        models = [final_model(case, record) for record in records[case]]
        for k, column in enumerate(FUNCTIONS):
            errors = [grid_error(model, column, k) for model in models]
            found[label, column, "test MAE"] = median_deviation(errors)
    return Measured(Findings(found), _budget(scale).reduced())


def grid_error(model: nn.Module, column: str, output: int) -> float:
    """Mean absolute error of an output on the grid of its function."""
    x = grid(column)
    with torch.no_grad():
        predicted = model(x)[:, output]
    return float((predicted - FUNCTIONS[column](x[:, 0], x[:, 1])).abs().double().mean())


def grid(column: str) -> Tensor:
    """All pairs of -4.1, -3.9, …, 3.9; for the root, of 0.1, 0.2, …, 4."""
    line = 0.1 * torch.arange(1, 41) if column == "sqrt" else -4.1 + 0.2 * torch.arange(41)
    return torch.cartesian_prod(line, line)
