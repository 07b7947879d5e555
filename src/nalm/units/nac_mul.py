r"""NAC* (also written NAC with a dot), the multiplicative Neural Accumulator.

.. math:: W = \tanh(\hat W) \odot \sigma(\hat M), \qquad
          m_o = \exp\Big(\sum_i W_{o,i} \ln(|x_i| + \epsilon)\Big)

Trask et al. 2018, section 2; Madsen & Johansen 2020, equation 3; thesis, equation 2.3.

The result has no sign, and its relative error at ideal weights is about :math:`\sum_i W_i \epsilon / |x_i|`.

Deviations: the papers leave epsilon open; it is 1e-7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_epsilon
from nalm.training.recipe import Recipe
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._initialisers import tanh_sigmoid
from nalm.units._symbolic import magnitude, number
from nalm.units.nac import NAC, effective, nac_weight, saturate_

EPSILON = 1e-7


def power_product(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """exp(sum of weight * ln(|x| + epsilon)): x `*batch x n x in`, weight `*batch x out x in`."""
    return torch.exp(weighted_sum(x, weight, lambda x: torch.log(x.abs() + epsilon)))


def nac_mul(x: Tensor, w_hat: Tensor, m_hat: Tensor, epsilon: float = EPSILON) -> Tensor:
    """`power_product` with the weight tanh(w_hat) * sigmoid(m_hat)."""
    return power_product(x, nac_weight(w_hat, m_hat), epsilon)


class NACMul(Unit):
    """Multiplicative Neural Accumulator: multiplies and divides magnitudes in log space.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        epsilon: added to the magnitudes, so that their logarithm is finite.

    Example:
        >>> unit = nalm.NACMul(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[2.5000]], grad_fn=<...>)
    """

    name = "nac-mul"
    ops = ("mul", "div")
    papers = ("trask2018", "madsen2020")
    recipes = ("published", "arithmetic")

    w_hat: Tensor
    m_hat: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        batch_shape: Sequence[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        epsilon: float = EPSILON,
    ) -> None:
        self.epsilon = check_epsilon(epsilon)
        super().__init__(in_features, out_features, batch_shape=batch_shape, device=device, dtype=dtype)

    def build(self) -> None:
        """Declare the parameters."""
        initial = tanh_sigmoid(self.in_features, self.out_features)
        self.declare("w_hat", (self.out_features, self.in_features), initial)
        self.declare("m_hat", (self.out_features, self.in_features), initial)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nac_mul(x, self.w_hat, self.m_hat, self.epsilon)

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrix."""
        return {"W": nac_weight(self.w_hat, self.m_hat)}

    def select_(self, weight: Tensor) -> None:
        """Saturate the raw weights such that the effective ones are these of {-1, 0, 1}."""
        saturate_(self.w_hat, self.m_hat, weight)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Plain Adam with the rate 1e-3 and no penalty, like the NAC."""
        return NAC.make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers of magnitudes for each output."""
        epsilon = 0.0 if idealised else self.epsilon
        weight = effective(values["w_hat"], values["m_hat"])
        return [magnitude_powers(row, symbols, epsilon) for row in weight]

    def options_repr(self) -> str:
        """The epsilon, if it is not the usual one."""
        return "" if self.epsilon == EPSILON else f", epsilon={self.epsilon}"


def magnitude_powers(weights: np.ndarray, symbols: Sequence[Any], epsilon: float) -> Any:
    """Product of (|symbol| + epsilon) ** weight."""
    import sympy as sp

    return sp.Mul(*(magnitude(s, epsilon) ** number(w) for w, s in zip(weights, symbols)))
