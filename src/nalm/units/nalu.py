r"""NALU, the Neural Arithmetic Logic Unit.

.. math:: y_o = g_o a_o + (1 - g_o) m_o, \qquad g_o = \sigma\Big(\sum_i G_{o,i} x_i\Big)

with :math:`a` of the NAC and :math:`m` of the multiplicative NAC. Trask et al. 2018, section 2; Madsen &
Johansen 2020, section 2.1; thesis, equations 2.1-2.5.

The gate depends on the input: it can be open or closed for all inputs only if they all have the same sign.
The ideal weights are those for positive inputs.

Deviations: none in the equation. The weight is initialised like the NAC's, the gate by Xavier. Both paths
share one weight, as in the original; `shared=False` separates them (Madsen & Johansen 2020, appendix C.5).
The papers do not specify epsilon; it is 1e-7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero
from nalm.recipes import Recipe
from nalm.recipes.initialisers import tanh_sigmoid, xavier_uniform
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import linear
from nalm.units.nac import NAC, effective, nac_weight, saturate_
from nalm.units.nac_mul import EPSILON, magnitude_powers, power_product

OPEN = 1e9
"""A gate weight that opens or closes the gate fully for inputs down to 1e-6."""
SATURATED = 100.0
"""From this size on, gate weights of equal sign are read as open or closed: an input of 0.1 saturates it."""
_CLEAR = 20.0
"""From this size on, the logistic function is 0 or 1 to eight digits."""


def nalu(x: Tensor, add_weight: Tensor, mul_weight: Tensor, gate: Tensor, epsilon: float = EPSILON) -> Tensor:
    """Gated sum of both paths: x `*batch x n x in`, weights and gate `*batch x out x in`."""
    g = torch.sigmoid(weighted_sum(x, gate))
    return g * weighted_sum(x, add_weight) + (1 - g) * power_product(x, mul_weight, epsilon)


class NALU(Unit):
    """Neural Arithmetic Logic Unit: a gate chooses between a sum and a product of powers.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        shared: whether both paths use the same weight.
        epsilon: added to the magnitudes, so that their logarithm is finite.

    Example:
        >>> unit = nalm.NALU(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]])).round(decimals=3)
        tensor([[10.]], grad_fn=<...>)
    """

    name = "nalu"
    ops = ("add", "sub", "mul", "div", "reciprocal")
    unary = ("reciprocal",)
    positive = True
    papers = ("trask2018", "madsen2020")
    recipes = ("published", "arithmetic")
    reading = "for positive inputs"

    log_base: ClassVar[float] = 1.0
    """Logarithm of the base of tanh and the logistic function in the weight."""
    gate_log_base: float = 1.0
    """The same for the gate."""

    w_hat: Tensor
    m_hat: Tensor
    w_hat_mul: Tensor
    m_hat_mul: Tensor
    gate: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        shared: bool = True,
        epsilon: float = EPSILON,
        **common: Unpack[Common],
    ) -> None:
        self.shared, self.epsilon = shared, check_above_zero("epsilon", epsilon)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        shape = (self.out_features, self.in_features)
        initial = tanh_sigmoid(self.in_features, self.out_features)
        for raw in ("w_hat", "m_hat") if self.shared else ("w_hat", "m_hat", "w_hat_mul", "m_hat_mul"):
            self.declare(raw, shape, initial)
        # Xavier with the gain that torch gives for the logistic function: 1.
        self.declare("gate", shape, xavier_uniform(self.in_features, self.out_features))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weights = self.weights()
        gate = self.gate if self.gate_log_base == 1 else self.gate_log_base * self.gate
        return nalu(x, weights["W"], weights.get("W_mul", weights["W"]), gate, self.epsilon)

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrices. The gate depends on the input and is not among them."""
        weights = {"W": nac_weight(self.w_hat, self.m_hat, self.log_base)}
        if not self.shared:
            weights["W_mul"] = nac_weight(self.w_hat_mul, self.m_hat_mul, self.log_base)
        return weights

    def select_(self, weight: Tensor) -> None:
        """Saturate the raw weights of both paths so that the effective weights are these of {-1, 0, 1}."""
        saturate_(self.w_hat, self.m_hat, weight)
        if not self.shared:
            saturate_(self.w_hat_mul, self.m_hat_mul, weight)

    def snap_(self) -> None:
        """Round the effective weights to {-1, 0, 1}; the gate depends on the input and is not changed."""
        weights = self.weights()
        saturate_(self.w_hat, self.m_hat, weights["W"].round())
        if not self.shared:
            saturate_(self.w_hat_mul, self.m_hat_mul, weights["W_mul"].round())

    def decisive_mask(self) -> dict[str, Tensor]:
        """The weights of the path that the gate opens for positive inputs, if they are not shared."""
        if self.shared:
            return {}
        sums, products = opened(self.gate)
        return {"W": sums.expand_as(self.w_hat), "W_mul": products.expand_as(self.w_hat)}

    def readable(self) -> bool:
        """Whether the gate is open or closed for all positive inputs."""
        rows = self.gate.detach().reshape(-1, self.in_features).cpu().double().numpy()
        return all(read_gate(row) is not None for row in rows)

    def holds(self, x: Tensor) -> Tensor:
        """Rows of positive inputs that fully open or close the gate."""
        return decided(x, self.gate)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """1 on input i, 1 or -1 on input j, and a gate that is right for positive inputs."""
        super().set_ideal_(op, i, j)
        self.gate.fill_(OPEN if op in ("add", "sub") else -OPEN)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Plain Adam with learning rate 1e-3 and no penalty, like the NAC."""
        return NAC.make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The gated sum for each output; if idealised, a saturated gate is read for positive inputs."""
        add = effective(values["w_hat"], values["m_hat"], self.log_base)
        mul = add if self.shared else effective(values["w_hat_mul"], values["m_hat_mul"], self.log_base)
        outputs = []
        for a, m, g in zip(add, mul, values["gate"]):
            gate = gate_expression(g, symbols, idealised, self.gate_log_base)
            epsilon = 0.0 if idealised else self.epsilon
            outputs.append(gate * linear(a, symbols) + (1 - gate) * magnitude_powers(m, symbols, epsilon))
        return outputs

    def options_repr(self) -> str:
        """The options that differ from the original."""
        shared = "" if self.shared else ", shared=False"
        return shared + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")


def decided(x: Tensor, gate: Tensor) -> Tensor:
    """Rows of positive inputs, `n x in`, that fully open or close every gate: bool, shape `n`."""
    return (x > 0).all(-1) & (weighted_sum(x, gate).abs() > _CLEAR).all(-1)


def opened(gate: Tensor) -> tuple[Tensor, Tensor]:
    """Which outputs need the sum, and which the product; both where the gate cannot be read."""
    closed, open_ = (gate <= -SATURATED).all(-1, keepdim=True), (gate >= SATURATED).all(-1, keepdim=True)
    return ~closed, ~open_


def read_gate(weights: np.ndarray) -> int | None:
    """1 or 0 if these gate weights open or close the gate for all inputs above zero, else None."""
    if (weights >= SATURATED).all():
        return 1
    return 0 if (weights <= -SATURATED).all() else None


def gate_expression(
    weights: np.ndarray, symbols: Sequence[Any], idealised: bool, log_base: float = 1.0
) -> Any:
    """The gate as a function of the input; if idealised, 1 or 0 where it can be read."""
    import sympy as sp

    read = read_gate(weights) if idealised else None
    return 1 / (1 + sp.exp(-linear(log_base * weights, symbols))) if read is None else sp.Integer(read)
