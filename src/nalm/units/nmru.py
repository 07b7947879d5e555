r"""NMRU, the Neural Multiplicative Reciprocal Unit.

.. math::
    z_o = \prod_{i=1}^{2I} (W_{o,i} |\hat x_i| + 1 - W_{o,i}) \cos\Big(\sum_{i=1}^{2I} W_{o,i} k_i\Big), \quad
    \hat x = [x,\ 1 / (x + \epsilon)], \quad k_i = \pi [\hat x_i < 0], \quad W \in [0, 1]

Penalty: mean of :math:`\min(|W|, |1 - W|)`. Thesis, section 5.2.2, equation 5.2. With `sign=False` the
cosine is left out and the product is that of the signed inputs; with `gate=True` a learnt relevance
:math:`g \in [0, 1]` of each input is applied first, as in the RealNPU (both appendix G.6).

Deviations: the thesis does not specify epsilon; it is float32's machine epsilon, as in the RealNPU. The
equation of the gate is not given: sizes become :math:`g |x| + 1 - g` and angles :math:`g k`. The recipe
"unclipped" does not clip the gradient's norm (appendix G.6). `exact_evaluation=True` leaves out the epsilon
in evaluation, as one public version does: with the epsilon, even ideal weights have an error near zero, and
selection by validation error prefers weights that are slightly wrong (see docs/fidelity.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero
from nalm.recipes import Adam, ClipNorm, Ramp, Recipe, UnitPenalty
from nalm.recipes.distances import distance_to_bit
from nalm.recipes.initialisers import Constant, Uniform
from nalm.units._base import Unit, selection
from nalm.units._functional import cosine_of_sum
from nalm.units._options import Common
from nalm.units._product import gated_product
from nalm.units._symbolic import number
from nalm.units.real_npu import EPSILON, powers


def nmru(
    x: Tensor, weight: Tensor, gate: Tensor | None = None, epsilon: float = EPSILON, sign: bool = True
) -> Tensor:
    """Product over inputs and reciprocals: x `*batch x n x in`, weight `*batch x out x 2in`."""
    both = (x, reciprocal(x, epsilon))
    # Like |x|, but with slope 1 at zero, where the sign counts as positive.
    sizes = [torch.where(part < 0, -part, part) if sign else part for part in both]
    if gate is not None:
        relevance = gate[..., None, :]
        sizes = [relevance * part + (1 - relevance) for part in sizes]
    result = gated_product(tuple(sizes), weight)
    if not sign:
        return result
    angle = math.pi * (weight if gate is None else weight * torch.cat([gate, gate], -1)[..., None, :])
    return result * cosine_of_sum(tuple(part < 0 for part in both), angle)


def reciprocal(x: Tensor, epsilon: float) -> Tensor:
    """1 / (x + epsilon); if epsilon is 0, 1 / x, with the value 0 at zero instead of infinity."""
    return 1 / (x + epsilon) if epsilon else torch.where(x == 0, 0.0, 1 / torch.where(x == 0, 1.0, x))


class NMRU(Unit):
    """Neural Multiplicative Reciprocal Unit: an NMU over the inputs and their reciprocals, with a sign.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        sign: whether magnitudes and sign are computed separately.
        gate: whether inputs have a learnt relevance.
        epsilon: added to the inputs, so that their reciprocals are finite.
        exact_evaluation: whether the epsilon is left out in evaluation.

    Example:
        >>> unit = nalm.NMRU(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "nmru"
    ops = ("mul", "div", "reciprocal")
    unary = ("reciprocal",)
    papers = ("mistry2023",)
    recipes = ("published", "unclipped", "second-order")

    weight: Tensor
    relevance: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        sign: bool = True,
        gate: bool = False,
        epsilon: float = EPSILON,
        exact_evaluation: bool = False,
        **common: Unpack[Common],
    ) -> None:
        self.exact_evaluation = exact_evaluation
        self.sign, self.gate, self.epsilon = sign, gate, check_above_zero("epsilon", epsilon)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        self.declare("weight", (self.out_features, 2 * self.in_features), Uniform(0.25, 0.75))
        if self.gate:
            self.declare("relevance", (self.in_features,), Constant(0.5))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        epsilon = 0.0 if self.exact_evaluation and not self.training else self.epsilon
        return nmru(x, self.weight, self.gates().get("g"), epsilon, self.sign)

    def weights(self) -> dict[str, Tensor]:
        """The weights of the inputs, then those of their reciprocals."""
        return {"W": self.weight}

    def gates(self) -> dict[str, Tensor]:
        """The relevance of each input, if there is a gate."""
        return {"g": self.relevance.clamp(0, 1)} if self.gate else {}

    def penalty(self) -> Tensor:
        """Mean distance of the weights from {0, 1}."""
        return distance_to_bit(self.weight).mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp weights and gates to [0, 1]."""
        self.weight.clamp_(0, 1)
        if self.gate:
            self.relevance.clamp_(0, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Multiply where this matrix of {-1, 0, 1} is 1, divide where it is -1, and open the gates."""
        self.weight.copy_(torch.cat([weight.clamp(0, 1), (-weight).clamp(0, 1)], -1))
        if self.gate:
            self.relevance.fill_(1)

    @torch.no_grad()
    def snap_(self) -> None:
        """Round weights and gates to {0, 1}."""
        self.weight.copy_(self.weight.clamp(0, 1).round())
        if self.gate:
            self.relevance.copy_(self.relevance.clamp(0, 1).round())

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """1 on input i or its reciprocal, and on input j or its reciprocal."""
        self.select_(selection(torch.zeros_like(self.weight[..., : self.in_features]), op, i, j))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, section 5.3: learning rate 1e-2, gradient norm at most 1, a later window for 10 inputs."""
        window, iterations = (Ramp(20e3, 35e3), 50_000) if inputs < 10 else (Ramp(50e3, 75e3), 100_000)
        recipe = Recipe(
            penalties=(UnitPenalty(10.0, window),),
            clip_norm=ClipNorm(1.0),
            optimiser=Adam(1e-2),
            iterations=iterations,
        )
        return recipe if name == "published" else replace(recipe, clip_norm=None)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product over inputs and reciprocals for each output."""
        gate = np.clip(values["relevance"], 0, 1) if self.gate else np.ones(self.in_features)
        if idealised and np.isin(gate, (0, 1)).all():
            halves = (np.split(row, 2) for row in values["weight"])
            return [powers((times - over) * gate, symbols) for times, over in halves]
        return [self._in_full(row, np.tile(gate, 2), symbols) for row in values["weight"]]

    def _in_full(self, weights: np.ndarray, gate: np.ndarray, symbols: list[Any]) -> Any:
        import sympy as sp

        epsilon = 0 if self.exact_evaluation else sp.Float(self.epsilon)
        both = [*symbols, *(1 / (s + epsilon) for s in symbols)]
        result, angle = sp.Integer(1), sp.Integer(0)
        for w, g, s in zip(weights, gate, both):
            size = number(g) * (sp.Abs(s) if self.sign else s) + number(1 - g)
            result *= number(w) * size + number(1 - w)
            angle += sp.pi * number(w) * number(g) * sp.Piecewise((1, s < 0), (0, True))
        return result * sp.cos(angle) if self.sign else result

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        sign = "" if self.sign else ", sign=False"
        gate = ", gate=True" if self.gate else ""
        exact = ", exact_evaluation=True" if self.exact_evaluation else ""
        return sign + gate + exact + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")
