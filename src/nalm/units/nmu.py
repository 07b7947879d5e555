r"""NMU, the Neural Multiplication Unit.

.. math:: m_o = \prod_i (W_{o,i} x_i + 1 - W_{o,i}), \qquad W \in [0, 1]

Penalty: mean of :math:`\min(|W|, |1 - W|)`. Madsen & Johansen 2020, equations 10-12; thesis, equation 2.14.

Deviations: the papers clamp W before use; it is clamped after the optimiser's step (`project_`), which is the
same in training. Initial weights are uniform in (0.25, 0.75) at all sizes, as at those used in the papers;
Madsen & Johansen derive the variance 1/4 for many inputs. W is held as `out x in`, like `nn.Linear`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.training.recipe import Ramp, Recipe, UnitPenalty
from nalm.units._base import Unit
from nalm.units._functional import distance_to_bit, gated_product
from nalm.units._initialisers import Uniform
from nalm.units._symbolic import number


def nmu(x: Tensor, weight: Tensor) -> Tensor:
    """Product of weight * x + 1 - weight: x `*batch x n x in`, weight `*batch x out x in`."""
    return gated_product(x, weight)


class NMU(Unit):
    """Neural Multiplication Unit: multiplies a learnt selection of its inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.

    Example:
        >>> unit = nalm.NMU(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "nmu"
    ops = ("mul",)
    papers = ("madsen2020",)
    recipes = ("published", "arithmetic")

    weight: Tensor

    def build(self) -> None:
        """Declare the parameters."""
        self.declare("weight", (self.out_features, self.in_features), Uniform(0.25, 0.75))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nmu(x, self.weight)

    def weights(self) -> dict[str, Tensor]:
        """The weight matrix."""
        return {"W": self.weight}

    def penalty(self) -> Tensor:
        """Mean distance of the weights from {0, 1}."""
        return distance_to_bit(self.weight).mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp the weights to [0, 1]."""
        self.weight.clamp_(0, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Take this weight matrix, clamped to [0, 1]."""
        self.weight.copy_(weight.clamp(0, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, table E.1; with 10 inputs and more, the window and steps of its table 5.1."""
        if name == "arithmetic":
            return Recipe(penalties=(UnitPenalty(10.0, Ramp(1e6, 2e6)),), iterations=5_000_000)
        if inputs < 10:
            return Recipe(penalties=(UnitPenalty(10.0, Ramp(20e3, 35e3)),))
        return Recipe(penalties=(UnitPenalty(10.0, Ramp(50e3, 75e3)),), iterations=100_000)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of weight * input + 1 - weight for each output."""
        import sympy as sp

        return [
            sp.Mul(*(number(w) * s + number(1 - w) for w, s in zip(row, symbols))) for row in values["weight"]
        ]
