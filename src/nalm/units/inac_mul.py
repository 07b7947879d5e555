r"""iMNAC, the product of the iNALU as a separate unit.

.. math::
    m_o = \exp\Big(\min\Big(\sum_i W_{o,i} \ln \max(|x_i|, \epsilon),\ \omega\Big)\Big), \qquad
    y_o = m_o \prod_i (\mathrm{sign}(x_i) |W_{o,i}| + 1 - |W_{o,i}|)

with :math:`W = \tanh(\hat W) \odot \sigma(\hat M)`, :math:`\epsilon = 10^{-7}`, :math:`\omega = 20`. Schlör
et al. 2020; thesis, equations 2.7-2.9. The size of the result is at most :math:`e^{20} \approx 4.85 \cdot
10^8`.

Deviations: equation 2.8 omits the sum over inputs, which its text implies. Initial values, penalty and
recipes are those of the iNAC; `arithmetic` is not published.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.units._functional import weighted_sum
from nalm.units._product import product
from nalm.units._symbolic import number
from nalm.units.inac import INAC
from nalm.units.nac import effective, nac_weight

FLOOR, CAP = 1e-7, 20.0
"""The smallest magnitude that is distinguished from zero, and the largest logarithm of a result."""


def inac_mul(x: Tensor, weight: Tensor) -> Tensor:
    """Capped product of powers with sign: x `*batch x n x in`, weight `*batch x out x in`."""
    log = weighted_sum(x, weight, lambda x: torch.log(x.abs().clamp(min=FLOOR)))
    return torch.exp(log.clamp(max=CAP)) * mixed_sign(x, weight)


def mixed_sign(x: Tensor, weight: Tensor) -> Tensor:
    """The mixed sign vector: product of sign(x) |W| + 1 - |W|, thesis, equation 2.9."""
    return product(lambda x, size: x.sign() * size + (1 - size), (x,), (weight.abs(),))


class INACMul(INAC):
    """The iNALU's product: multiplies and divides in log space with the right sign, capped.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        initial: "benchmark" or "authors", where the initial weights come from.

    Example:
        >>> unit = nalm.INACMul(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "inac-mul"
    ops = ("mul", "div", "reciprocal")
    unary = ("reciprocal",)
    largest = math.exp(CAP)
    reading = "for inputs of size 1e-7 or more and results up to exp(20)"

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return inac_mul(x, nac_weight(self.w_hat, self.m_hat))

    def holds(self, x: Tensor) -> Tensor:
        """Rows above the floor whose results stay below the cap."""
        return within_cap(x, nac_weight(self.w_hat, self.m_hat))

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The capped product of powers for each output."""
        weight = effective(values["w_hat"], values["m_hat"])
        return [capped_powers(row, symbols, idealised) for row in weight]


def within_cap(x: Tensor, weight: Tensor) -> Tensor:
    """Rows of x, `n x in`, that neither the floor nor the cap changes: bool, shape `n`."""
    log = weighted_sum(x, weight, lambda x: torch.log(x.abs().clamp(min=FLOOR)))
    return (x.abs() >= FLOOR).all(-1) & (log < CAP).all(-1)


def capped_powers(weights: np.ndarray, symbols: list[Any], idealised: bool) -> Any:
    """The symbolic form of `inac_mul` for one output; idealised, the product of whole powers."""
    import sympy as sp

    if idealised:
        return sp.Mul(*(s ** number(w) for w, s in zip(weights, symbols)))
    log, sign = sp.Integer(0), sp.Integer(1)
    for w, s in zip(weights, symbols):
        log += number(w) * sp.log(sp.Max(sp.Abs(s), sp.Float(FLOOR)))
        sign *= sp.sign(s) * number(abs(w)) + number(1 - abs(w))
    return sp.exp(sp.Min(log, sp.Float(CAP))) * sign
