r"""NLRL, the Neural Logic Rule Layer.

.. math::
    \hat x_{o,i} &= (1 - n_{o,i}) x_i + n_{o,i} (1 - x_i), & n &= \sigma(G^{neg}) \\
    z^{and}_o &= \exp\Big(\sum_i a_{o,i} \ln(|\hat x_{o,i}| + \epsilon)\Big), & a &= \sigma(A) \\
    z^{or}_o &= 1 - \prod_i (1 - a_{o,i} \hat x_{o,i}), \\
    y_o &= (1 - g_o) z^{and}_o + g_o z^{or}_o, & g &= \sigma(G^{out})

Reimann & Schwung 2019; thesis, equations 2.26-2.29. The thesis writes the disjunction as a Kronecker product
with :math:`2^I` terms; multiplied out, it is the product above, whose cost grows with I alone.

With `de_morgan=True` there is only the conjunction, and the output gate negates:
:math:`y_o = (1 - g_o) z^{and}_o + g_o (1 - z^{and}_o)`.

Inputs are truth values 0 and 1. Numbers between them are taken as degrees of truth; numbers outside are
neither refused nor clipped, and the result then has no logical meaning. A tensor of dtype bool is refused
like any other dtype than the unit's: use `.to(torch.float32)`.

Deviations: equation 2.29 and its text disagree on the output gate; as in the equation, 0 is the conjunction
and 1 the disjunction. There is one output gate per output, although the equation indexes it by input too. No
paper states how the raw A becomes a weight, nor the initialisation: they are a logistic function as for the
gates, and uniform (-0.5, 0.5), as in one public version. Epsilon is 1e-7. There is no published recipe; plain
Adam is used.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero
from nalm.recipes.initialisers import Uniform
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._product import product
from nalm.units._symbolic import number
from nalm.units.nac import SATURATED
from nalm.units.nac_mul import EPSILON

IDEAL = {
    "and": (False, False, False),
    "or": (False, False, True),
    "not": (True, False, False),
    "nand": (True, True, True),
    "nor": (True, True, False),
    "implies": (True, False, True),
}
"""For each operation: whether i is negated, whether j is negated, whether it is a disjunction."""


def nlrl(
    x: Tensor,
    weight: Tensor,
    negation: Tensor,
    output: Tensor,
    epsilon: float = EPSILON,
    de_morgan: bool = False,
) -> Tensor:
    """Gated conjunction or disjunction: x `*batch x n x in`, output `*batch x out`, rest `... x out x in`."""
    both = product(lambda x, a, n: (_negated(x, n).abs() + epsilon) ** a, (x,), (weight, negation))
    g = output[..., None, :]
    if de_morgan:
        return _negated(both, g)
    neither = product(lambda x, a, n: 1 - a * _negated(x, n), (x,), (weight, negation))
    return (1 - g) * both + g * (1 - neither)


def _negated(x: Tensor, gate: Tensor) -> Tensor:
    return (1 - gate) * x + gate * (1 - x)


class NLRL(Unit):
    """Neural Logic Rule Layer: learns conjunctions, disjunctions and negations of truth values.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        de_morgan: whether disjunctions are expressed by conjunction and negation alone.
        epsilon: added to the magnitudes in the conjunction, so that their logarithm is finite.

    Example:
        >>> unit = nalm.NLRL(3, 1)
        >>> unit.ideal_("or", 0, 2)
        >>> unit(torch.tensor([[0.0, 1.0, 1.0]]))
        tensor([[1.]], grad_fn=<...>)
    """

    name = "nlrl"
    ops = ("and", "or", "not", "nand", "nor", "implies")
    papers = ("reimann2019", "mistry2023")
    unary = ("not",)
    logical = True

    weight: Tensor
    negation: Tensor
    output: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        de_morgan: bool = False,
        epsilon: float = EPSILON,
        **common: Unpack[Common],
    ) -> None:
        self.de_morgan, self.epsilon = de_morgan, check_above_zero("epsilon", epsilon)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        shape, initial = (self.out_features, self.in_features), Uniform(-0.5, 0.5)
        self.declare("weight", shape, initial)
        self.declare("negation", shape, initial)
        self.declare("output", (self.out_features,), initial)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weight, negation, output = map(torch.sigmoid, (self.weight, self.negation, self.output))
        return nlrl(x, weight, negation, output, self.epsilon, self.de_morgan)

    def weights(self) -> dict[str, Tensor]:
        """Which inputs each output uses."""
        return {"W": torch.sigmoid(self.weight)}

    def gates(self) -> dict[str, Tensor]:
        """Which inputs are negated, and which outputs are disjunctions (or, by De Morgan, negated)."""
        return {"negation": torch.sigmoid(self.negation), "output": torch.sigmoid(self.output)}

    def decisive_mask(self) -> dict[str, Tensor]:
        """Negations of inputs that are used."""
        return {"negation": self.weight > 0}

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Use the inputs where this matrix is 1, negated where it is -1."""
        self.weight.copy_(_saturated(weight != 0))
        self.negation.copy_(_saturated(weight < 0))

    @torch.no_grad()
    def snap_(self) -> None:
        """Round weights and gates to {0, 1}."""
        for raw in (self.weight, self.negation, self.output):
            raw.copy_(_saturated(raw > 0))

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """The operation of inputs i and j; "not" is of input i alone."""
        negate_i, negate_j, disjunction = IDEAL[op]
        if self.de_morgan and disjunction:
            negate_i, negate_j = not negate_i, not negate_j
        weight = torch.zeros_like(self.weight)
        weight[..., i] = -1 if negate_i else 1
        if op != "not":
            weight[..., j] = -1 if negate_j else 1
        self.select_(weight)
        self.output.copy_(_saturated(torch.full_like(self.output, disjunction) > 0))

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """Conjunctions and disjunctions for each output, as booleans where idealised."""
        weight, negation, output = (
            torch.sigmoid(torch.from_numpy(np.asarray(values[k]))).numpy()
            for k in ("weight", "negation", "output")
        )
        one = self._rule if idealised else self._in_full
        return [one(a, n, g, symbols) for a, n, g in zip(weight, negation, output)]

    def _rule(self, weights: np.ndarray, negation: np.ndarray, gate: float, symbols: list[Any]) -> Any:
        import sympy as sp

        terms = [sp.Not(s) if n > 0.5 else s for a, n, s in zip(weights, negation, symbols) if a > 0.5]
        if gate <= 0.5:
            return sp.And(*terms)
        return sp.Not(sp.And(*terms)) if self.de_morgan else sp.Or(*terms)

    def _in_full(self, weights: np.ndarray, negation: np.ndarray, gate: float, symbols: list[Any]) -> Any:
        import sympy as sp

        both = neither = sp.Integer(1)
        for a, n, s in zip(weights, negation, symbols):
            hat = number(1 - n) * s + number(n) * (1 - s)
            both *= (sp.Abs(hat) + sp.Float(self.epsilon)) ** number(a)
            neither *= 1 - number(a) * hat
        return number(1 - gate) * both + number(gate) * (1 - (both if self.de_morgan else neither))

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        de_morgan = ", de_morgan=True" if self.de_morgan else ""
        return de_morgan + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")


def _saturated(on: Tensor) -> Tensor:
    return torch.where(on, SATURATED, -SATURATED)
