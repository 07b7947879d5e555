r"""NAC* (also written NAC with a dot), the multiplicative Neural Accumulator.

.. math:: m_o = \exp\Big(\sum_i W_{o,i} \ln(|x_i| + \epsilon)\Big)

with the weight :math:`W = \tanh(\hat W) \odot \sigma(\hat M)` (Trask et al. 2018, section 2; Madsen &
Johansen 2020, equation 3; thesis, equation 2.3), or with `weight="sigmoid"` :math:`W = \sigma(\hat W)`, or
with `weight="linear"` a free weight in [0, 1] with the NMU's penalty (Madsen & Johansen 2020, section
4.1.3: NAC*,sigma and NAC*,NMU). The latter two cannot divide.

The result has no sign, and its relative error at ideal weights is about :math:`\sum_i W_i \epsilon / |x_i|`.

Deviations: the papers do not specify epsilon; it is 1e-7. They do not specify the initialisation of
NAC*,sigma; it is that of the NAC. The linear weights are initialised like those of the NMU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero, check_choice
from nalm.recipes import Recipe
from nalm.recipes.distances import distance_to_bit
from nalm.recipes.initialisers import Uniform, tanh_sigmoid
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import magnitude, number
from nalm.units.nac import SATURATED, nac_weight, saturate_
from nalm.units.nmu import NMU

EPSILON = 1e-7


def power_product(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """exp(sum of weight * ln(|x| + epsilon)): x `*batch x n x in`, weight `*batch x out x in`."""
    return torch.exp(weighted_sum(x, weight, lambda x: torch.log(x.abs() + epsilon)))


class NACMul(Unit):
    """Multiplicative Neural Accumulator: multiplies and divides magnitudes in log space.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        weight: kind of weight, "tanh-sigmoid", "sigmoid" or "linear"; the latter two cannot divide.
        epsilon: added to the magnitudes, so that their logarithm is finite.

    Example:
        >>> unit = nalm.NACMul(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[2.5000]], grad_fn=<...>)
    """

    name = "nac-mul"
    ops: tuple[str, ...] = ("mul", "div", "reciprocal")
    unary = ("reciprocal",)
    positive = True
    papers = ("trask2018", "madsen2020")
    recipes = ("published", "arithmetic")

    w_hat: Tensor
    m_hat: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        weight: str = "tanh-sigmoid",
        epsilon: float = EPSILON,
        **common: Unpack[Common],
    ) -> None:
        self.kind = check_choice("weight", weight, ("tanh-sigmoid", "sigmoid", "linear"))
        self.epsilon = check_above_zero("epsilon", epsilon)
        super().__init__(in_features, out_features, **common)
        if self.kind != "tanh-sigmoid":
            self.ops = ("mul",)

    def build(self) -> None:
        """Declare the parameters."""
        shape = (self.out_features, self.in_features)
        squashed = tanh_sigmoid(self.in_features, self.out_features)
        self.declare("w_hat", shape, Uniform(0.25, 0.75) if self.kind == "linear" else squashed)
        if self.kind == "tanh-sigmoid":
            self.declare("m_hat", shape, squashed)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return power_product(x, self.weights()["W"], self.epsilon)

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrix."""
        if self.kind == "tanh-sigmoid":
            return {"W": nac_weight(self.w_hat, self.m_hat)}
        return {"W": torch.sigmoid(self.w_hat) if self.kind == "sigmoid" else self.w_hat}

    @property
    def is_discretised(self) -> bool:
        """Only linear weights are."""
        return self.kind == "linear"

    def penalty(self) -> Tensor:
        """Mean distance of linear weights from {0, 1}; other weights have no penalty."""
        return distance_to_bit(self.w_hat).mean((-2, -1)) if self.kind == "linear" else super().penalty()

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp linear weights to [0, 1]."""
        if self.kind == "linear":
            self.w_hat.clamp_(0, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix; clamped to [0, 1] where the unit cannot divide."""
        if self.kind == "tanh-sigmoid":
            saturate_(self.w_hat, self.m_hat, weight)
        elif self.kind == "sigmoid":
            self.w_hat.copy_(SATURATED * (2 * weight.clamp(0, 1) - 1))
        else:
            self.w_hat.copy_(weight.clamp(0, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The NMU's recipe: plain Adam, and a penalty that only linear weights have."""
        return NMU.make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers of magnitudes for each output."""
        epsilon = 0.0 if idealised else self.epsilon
        raw = {name: torch.from_numpy(np.asarray(value)) for name, value in values.items()}
        if self.kind == "tanh-sigmoid":
            weight = nac_weight(raw["w_hat"], raw["m_hat"])
        else:
            weight = torch.sigmoid(raw["w_hat"]) if self.kind == "sigmoid" else raw["w_hat"]
        return [magnitude_powers(row, symbols, epsilon) for row in weight.numpy()]

    def options_repr(self) -> str:
        """The options that differ from the original."""
        kind = "" if self.kind == "tanh-sigmoid" else f", weight={self.kind!r}"
        return kind + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")


def magnitude_powers(weights: np.ndarray, symbols: Sequence[Any], epsilon: float) -> Any:
    """Product of (|symbol| + epsilon) ** weight."""
    import sympy as sp

    return sp.Mul(*(magnitude(s, epsilon) ** number(w) for w, s in zip(weights, symbols)))
