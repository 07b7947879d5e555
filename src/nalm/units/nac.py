r"""NAC (also NAC+), the Neural Accumulator.

.. math:: W = \tanh(\hat W) \odot \sigma(\hat M), \qquad a_o = \sum_i W_{o,i} x_i

Trask et al. 2018, section 2; Madsen & Johansen 2020, equations 1-2; thesis, equations 2.1-2.2.

Deviations: initialisation by Madsen & Johansen 2020, appendix B.2, which has no solution for fewer than five
inputs and outputs together; the bound for five is then used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.recipes import Recipe
from nalm.recipes.initialisers import tanh_sigmoid
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._symbolic import linear

SATURATED = 120.0
"""A raw weight at which tanh and the logistic function are exactly 1 in float64, also with golden base."""


def nac_weight(w_hat: Tensor, m_hat: Tensor, log_base: float = 1.0) -> Tensor:
    """tanh(w_hat) * sigmoid(m_hat), which prefers {-1, 0, 1}; `log_base` is the logarithm of their base."""
    if log_base != 1:
        w_hat, m_hat = log_base * w_hat, log_base * m_hat
    return torch.tanh(w_hat) * torch.sigmoid(m_hat)


def nac(x: Tensor, w_hat: Tensor, m_hat: Tensor) -> Tensor:
    """Sum of W * x: x `*batch x n x in`, raw weights `*batch x out x in`, result `*batch x n x out`."""
    return weighted_sum(x, nac_weight(w_hat, m_hat))


@torch.no_grad()
def saturate_(w_hat: Tensor, m_hat: Tensor, weight: Tensor) -> None:
    """Set raw weights such that `nac_weight` gives exactly `weight`, with values in {-1, 0, 1}."""
    w_hat.copy_(SATURATED * weight)
    m_hat.copy_(SATURATED * (2 * weight.abs() - 1))


class NAC(Unit):
    """Neural Accumulator: adds and subtracts; its weight is a product of tanh and logistic function.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.

    Example:
        >>> unit = nalm.NAC(3, 1)
        >>> unit.ideal_("add", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[7.]], grad_fn=<...>)
    """

    name = "nac"
    ops = ("add", "sub")
    papers = ("trask2018", "madsen2020")
    recipes = ("published", "arithmetic")

    w_hat: Tensor
    m_hat: Tensor

    def build(self) -> None:
        """Declare the parameters."""
        initial = tanh_sigmoid(self.in_features, self.out_features)
        self.declare("w_hat", (self.out_features, self.in_features), initial)
        self.declare("m_hat", (self.out_features, self.in_features), initial)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nac(x, self.w_hat, self.m_hat)

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrix."""
        return {"W": nac_weight(self.w_hat, self.m_hat)}

    def select_(self, weight: Tensor) -> None:
        """Saturate the raw weights so that the effective weights are these of {-1, 0, 1}."""
        saturate_(self.w_hat, self.m_hat, weight)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Plain Adam, learning rate 1e-3, no penalty; from 10 inputs on, the steps of thesis table 5.1."""
        if name == "arithmetic":
            return Recipe(iterations=5_000_000)
        return Recipe(iterations=50_000 if inputs < 10 else 100_000)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The sum of effective weight * input for each output."""
        return [linear(row, symbols) for row in effective(values["w_hat"], values["m_hat"])]


def effective(w_hat: np.ndarray, m_hat: np.ndarray, log_base: float = 1.0) -> np.ndarray:
    """`nac_weight` of numpy values, for the symbolic forms."""
    w, m = (torch.from_numpy(np.asarray(value)) for value in (w_hat, m_hat))
    return nac_weight(w, m, log_base).numpy()
