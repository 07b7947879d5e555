r"""stgNMU, the NMU with stochastic gates for weights.

.. math:: W_{o,i} = \max(0, \min(1, \mu_{o,i} + \epsilon_{o,i})), \qquad \epsilon \sim N(0, \sigma^2)

with :math:`\sigma = 0.5` while training, :math:`W = \max(0, \min(1, \mu))` in evaluation; otherwise the NMU.
Penalty: the expected number of open gates, :math:`\sum \Phi(\mu / \sigma)`. Thesis, section 4.3.1, after
Yamada et al. 2020.

Deviations: `penalty` is the mean over weights instead of the sum, as in the other units; the recipe uses the
sum (see `L0`). The thesis recommends a strength of 0.1 or less; 0.1 is used. Noise is drawn once per weight
and step.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero
from nalm.recipes import L0, Ramp, Recipe, UnitPenalty
from nalm.recipes.initialisers import Constant
from nalm.streams import standard_normal
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._product import gated_product
from nalm.units.nmu import gated_factors

SIGMA = 0.5


def stgnmu(x: Tensor, mean: Tensor, noise: Tensor) -> Tensor:
    """`gated_product` with the weight clamp(mean + noise): x `*batch x n x in`, mean `*batch x out x in`."""
    return gated_product(x, (mean + noise).clamp(0, 1))


class STGNMU(Unit):
    """NMU with stochastic gates: each weight is a clipped normal variable whose mean is learnt.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        sigma: standard deviation of the gates' noise.

    Example:
        >>> unit = nalm.STGNMU(3, 1).eval()
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "stgnmu"
    ops = ("mul",)
    papers = ("mistry2023",)
    recipes = ("published", "arithmetic")

    mean: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        sigma: float = SIGMA,
        **common: Unpack[Common],
    ) -> None:
        self.sigma = check_above_zero("sigma", sigma)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        self.declare("mean", (self.out_features, self.in_features), Constant(0.5))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself; in evaluation without noise."""
        if not self.training:
            return gated_product(x, self.mean.clamp(0, 1))
        return stgnmu(x, self.mean, self.sigma * standard_normal(self.draw(self.mean.shape, self.mean)))

    def weights(self) -> dict[str, Tensor]:
        """The weight matrix without noise."""
        return {"W": self.mean.clamp(0, 1)}

    def penalty(self) -> Tensor:
        """Mean probability that a gate is open."""
        return self.open_gates() / (self.in_features * self.out_features)

    def open_gates(self) -> Tensor:
        """Expected number of open gates: shape `batch_shape`."""
        return torch.special.ndtr(self.mean / self.sigma).sum((-2, -1))

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix, clamped to [0, 1]."""
        self.mean.copy_(weight.clamp(0, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The NMU's steps with a penalty of 0.1 times the expected number of open gates."""
        if name == "arithmetic":
            sums = UnitPenalty(10.0, Ramp(1e6, 2e6), unit="nau")
            return Recipe(penalties=(L0(0.1), sums), iterations=5_000_000)
        return Recipe(penalties=(L0(0.1),), iterations=50_000 if inputs < 10 else 100_000)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of weight * input + 1 - weight for each output."""
        return [gated_factors(row, symbols) for row in np.clip(values["mean"], 0, 1)]

    def options_repr(self) -> str:
        """The deviation, if it is not the usual one."""
        return "" if self.sigma == SIGMA else f", sigma={self.sigma}"
