"""Forms of units, starts and arithmetic that public code has and the papers do not, for benchmarks/causes.py.

A module of its own, so that other processes can import what they are sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.models.many import Parameters
from nalm.models.scaling import Scaled
from nalm.papers.heim2020.programs.simple import FourFunctions
from nalm.papers.mistry2023.programs.feature_scaling import BehindScaling, initial, training_data
from nalm.recipes import Recipe
from nalm.recipes.initialisers import Initialiser, Normal, Uniform
from nalm.streams import Purpose, counters, key, standard_normal, uniform
from nalm.tasks import RangeTask, Reciprocal, Split
from nalm.tasks.sampling import Aside, sample
from nalm.units import NAU, NMU, STGNMU, NACMul
from nalm.units._product import product


def left_to_right(x: Tensor, weight: Tensor) -> Tensor:
    """x * weight + 1 - weight in the order of public code, which cancels near zero."""
    return x * weight + 1 - weight


class CancellingNMU(NMU):
    """The NMU with its factors computed from left to right."""

    name = "cancelling-nmu"

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return product(left_to_right, (x,), (self.weight,))


def nau_and_cancelling_nmu(inputs: int, outputs: int) -> nn.Module:
    """The two layers of Madsen & Johansen 2020, table 1."""
    return nn.Sequential(NAU(inputs, 2), CancellingNMU(2, outputs))


class NearHalfSTGNMU(STGNMU):
    """The stgNMU whose means start from N(0.5, 0.01²)."""

    name = "near-half-stgnmu"

    def build(self) -> None:
        """Declare the parameters."""
        self.declare("mean", (self.out_features, self.in_features), Normal(0.5, 0.01))


class ProductSTGNMU(STGNMU):
    """The stgNMU that multiplies z x, without 1 - z: a closed gate makes the product 0, not smaller."""

    name = "product-stgnmu"

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself; in evaluation without noise."""
        gate = self.mean
        if self.training:
            gate = gate + self.sigma * standard_normal(self.draw(self.mean.shape, self.mean))
        return product(torch.mul, (x,), (gate.clamp(0, 1),))


class PublicSTGNMU(ProductSTGNMU, NearHalfSTGNMU):
    """Both of these."""

    name = "public-stgnmu"


class XavierNACMul(NACMul):
    """The NAC• whose raw weights start by Xavier's uniform scheme."""

    name = "xavier-nac-mul"

    def build(self) -> None:
        """Declare the parameters."""
        bound = (6 / (self.in_features + self.out_features)) ** 0.5
        for raw in ("w_hat", "m_hat"):
            self.declare(raw, (self.out_features, self.in_features), Uniform(-bound, bound))


@dataclass(frozen=True)
class WiderFunctions(FourFunctions):
    """The four functions of inputs from U(0.1, 2.1), as a public program draws them: 2 u + 0.1."""

    name = "four-functions, wider"

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The range."""
        return {"low": 0.1, "span": 2.0}


class OwnStatistics(Scaled):
    """Min-max scaling by the span and mean of each batch; in evaluation by those it was given.

    The span of the targets of a batch is that of the products of its inputs, which are the targets.
    """

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x out`."""
        if not self.training:
            return super().forward(input)
        assert self.w_in is not None
        assert self.w_out is not None
        centre, size = input.mean(-2, keepdim=True), _half_span(input)
        inner = self.model((input - centre) / size * self.w_in + self.b_in)
        return _half_span(input.prod(-1, keepdim=True)) * (inner * self.w_out + self.b_out)


def _half_span(values: Tensor) -> Tensor:
    return (values.amax(-2, keepdim=True) - values.amin(-2, keepdim=True)) / 2


@dataclass(frozen=True)
class OtherScaling(BehindScaling):
    """The single module task behind another min-max scaling; `scaling` is its name."""

    name = "other-scaling"

    def network(self, unit: nn.Module) -> nn.Module:
        """The unit between the scalings of its inputs and output."""
        x, y = training_data(self)
        if self.scaling == "one batch":
            x, y = sample(self, 0, Split.TRAIN, 128, dtype=torch.float32, aside=Aside.STATISTICS)
        kind = OwnStatistics if self.scaling == "each batch" else Scaled
        made = kind.min_max(unit, x, y)
        if self.scaling == "frozen":
            for scale in (made.w_in, made.b_in, made.w_out, made.b_out):
                assert scale is not None
                scale.requires_grad_(False)
        return made


_STARTS: dict[str, Initialiser] = {
    "normal": Normal(0.0, 1.0),
    "uniform": Uniform(0.0, 1.0),
    "linear": Uniform(-(0.5**0.5), 0.5**0.5),
}
"""Starts of scales and shifts: N(0, 1), U(0, 1), and nn.Linear's for two inputs."""


def random_scales(start: str, network: nn.Module, seeds: Sequence[int]) -> Parameters:
    """NMU weights as the benchmark draws them, scales and shifts at random."""
    held, of_seeds = initial(network, seeds), torch.tensor(seeds, dtype=torch.int32)
    for part, name in enumerate(("w_in", "b_in", "w_out", "b_out")):
        u = uniform(key(of_seeds, Purpose.INIT, 0, 50 + part), counters(*held[name].shape[1:]))
        held[name] = _STARTS[start](u)
    return held


def own(kind: type[nn.Module], task: RangeTask, recipe: Recipe) -> Case:
    """A case of a unit of this module."""
    return Case(GivenModel(f"public:{kind.__name__}", kind), task, other_recipe=recipe)


def public_gold_error(task: RangeTask, seed: int, *, cancel: bool, double: bool) -> float:
    """Test error of an NMRU with ideal weights, by arithmetic that public code has.

    Args:
        task: a reciprocal or a quotient.
        seed: the seed of the test data.
        cancel: compute factors from left to right.
        double: compute targets in float64 of inputs that are rounded only afterwards.
    """
    x64, y64 = sample(task, seed, Split.TEST, 10_000)
    x = x64.float()
    weight = torch.zeros(4 if x.shape[1] == 2 else 2)
    weight[[x.shape[1]] if isinstance(task, Reciprocal) else [0, 3]] = 1
    y = y64.float() if double else (1 / x[:, :1] if isinstance(task, Reciprocal) else x[:, :1] / x[:, 1:])
    both = torch.cat([x, 1 / x], 1)
    factors = left_to_right(both, weight) if cancel else weight * both + (1 - weight)
    return float((factors.prod(1, keepdim=True) - y).square().mean(dtype=torch.float64))
