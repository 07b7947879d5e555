r"""NRU, the Neural Reciprocal Unit.

.. math:: z_o = \prod_i (\mathrm{sign}(x_i) |x_i|^{W_{o,i}} |W_{o,i}| + 1 - |W_{o,i}|), \qquad W \in [-1, 1]

While training, :math:`|W|` is replaced by :math:`\tanh(1000 W)^2`. Penalty: mean of :math:`\min(|W|, |1 -
|W||)`. Thesis, section 5.2.1, equation 5.1; the factor 1000 from its appendix G.2. With `sign="separate"`,
:math:`z_o = \prod_i (|x_i|^W |W| + 1 - |W|) \prod_i \mathrm{sign}(x_i)^{\mathrm{round}(W)}` (appendix G.7).

Deviations: at an input of exactly zero, where the equation has 0 times infinity for reciprocals, the factor
is :math:`1 - |W|` as for products: the result of a division by zero is 0 and its gradient finite. The
approximation replaces |W| in the equation, not in the penalty.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero, check_choice
from nalm.recipes import Adam, Ramp, Recipe, UnitPenalty
from nalm.recipes.distances import distance_to_integer_sign
from nalm.recipes.initialisers import half_capped
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._product import product
from nalm.units._symbolic import number
from nalm.units.real_npu import powers

TANH_SCALE = 1000.0


def nru(x: Tensor, weight: Tensor, size: Tensor) -> Tensor:
    """Product of signed powers: x `*batch x n x in`, weight and its size |W| `*batch x out x in`."""
    return product(lambda x, w, a: _sign(x) * _power(x, w) * a + (1 - a), (x,), (weight, size))


def nru_separate(x: Tensor, weight: Tensor, size: Tensor) -> Tensor:
    """The same with separate products of signs and magnitudes."""
    chosen = (weight.detach().abs() > 0.5).to(x.dtype)
    sizes = product(
        lambda x, w, a, c: torch.maximum((x != 0).to(c.dtype), c) * _power(x, w) * a + (1 - a),
        (x,),
        (weight, size, chosen),
    )
    return sizes * product(lambda x, c: torch.where(c > 0, _sign(x), 1.0), (x,), (chosen,))


def _sign(x: Tensor) -> Tensor:
    """sign(x) with slope 1 at zero, the slope of the whole factor where it multiplies by x."""
    return torch.where(x == 0, x, x.sign())


def _power(x: Tensor, weight: Tensor) -> Tensor:
    """|x| ** weight, but 1 at zero, where a reciprocal would be infinite and the callers multiply by 0."""
    return torch.where(x == 0, 1.0, x.abs()) ** weight


class NRU(Unit):
    """Neural Reciprocal Unit: multiplies and divides a learnt selection of its inputs, without logarithms.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        sign: whether signs are multiplied "together" with the magnitudes, or "separate".
        tanh_scale: how sharply |W| is approximated while training.

    Example:
        >>> unit = nalm.NRU(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "nru"
    ops = ("mul", "div", "reciprocal")
    unary = ("reciprocal",)
    papers = ("mistry2023",)
    recipes = ("published", "second-order")

    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        sign: str = "together",
        tanh_scale: float = TANH_SCALE,
        **common: Unpack[Common],
    ) -> None:
        self.sign = check_choice("sign", sign, ("together", "separate"))
        self.tanh_scale = check_above_zero("tanh_scale", tanh_scale)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        self.declare(
            "weight", (self.out_features, self.in_features), half_capped(self.in_features, self.out_features)
        )

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weight = self.weight
        size = torch.tanh(self.tanh_scale * weight).square() if self.training else weight.abs()
        return (nru if self.sign == "together" else nru_separate)(x, weight, size)

    def weights(self) -> dict[str, Tensor]:
        """The matrix of powers."""
        return {"W": self.weight}

    def penalty(self) -> Tensor:
        """Mean distance of the weights from {-1, 0, 1}."""
        return distance_to_integer_sign(self.weight).mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp the weights to [-1, 1]."""
        self.weight.clamp_(-1, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix, clamped to [-1, 1]."""
        self.weight.copy_(weight.clamp(-1, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, section 5.3: learning rate 1 for two inputs; 1e-3 and a later window for 10."""
        if inputs < 10:
            return Recipe(penalties=(UnitPenalty(10.0, Ramp(20e3, 35e3)),), optimiser=Adam(1.0))
        return Recipe(
            penalties=(UnitPenalty(10.0, Ramp(50e3, 75e3)),), optimiser=Adam(1e-3), iterations=100_000
        )

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers for each output."""
        if idealised:
            return [powers(row, symbols) for row in values["weight"]]
        return [self._in_full(row, symbols) for row in values["weight"]]

    def _in_full(self, weights: np.ndarray, symbols: list[Any]) -> Any:
        import sympy as sp

        result = sp.Integer(1)
        for w, s in zip(weights, symbols):
            power, size = sp.Abs(s) ** number(w), number(abs(w))
            sign = sp.sign(s)
            if self.sign == "together":
                result *= sign * power * size + 1 - size
            else:
                result *= (power * size + 1 - size) * (sign if abs(w) > 0.5 else 1)
        return result

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        sign = "" if self.sign == "together" else f", sign={self.sign!r}"
        return sign + ("" if self.tanh_scale == TANH_SCALE else f", tanh_scale={self.tanh_scale}")
