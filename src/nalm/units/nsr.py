r"""NSR, the Neural Status Register.

.. math::
    d_{o,r} &= \lambda \sum_i (\mathrm{softmax}(V^1_{o,r})_i - \mathrm{softmax}(V^2_{o,r})_i) x_i, \\
    z_o &= \sum_r \big(\tanh(d_{o,r}) W^\pm_{o,r} + (1 - 2 \tanh(d_{o,r})^2) W^0_{o,r} + b_{o,r}\big), \qquad
    y_o = \sigma(z_o)

It compares two selected inputs by the sign bit and the zero bit of their scaled difference. With redundancy
R, R independent pairs are summed. Faber & Wattenhofer 2020; thesis, equations 2.30-2.37.

With `both=True` half of the outputs are the comparisons, the other half their negations 1 - y, in the same
order.

The bits change where :math:`\tanh^2 = 1/2`: differences below :math:`0.88 / \lambda` count as equal. With
the default :math:`\lambda = 1` the ideal weights are right for whole numbers; for finer differences choose
a larger `scale`.

Deviations: the negations are returned only with `both`, so that a layer has `out_features` outputs. No paper
states the initial values; they are Xavier normal for the operands, as in one public version, standard normal
for the scales and zero for the shift. There is no published recipe; plain Adam is used.
"""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_above_zero, check_positive
from nalm.recipes.initialisers import Constant, Normal, xavier_normal
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import linear, number

CHOSEN = 1000.0
"""A raw operand weight that takes all of the softmax."""
SHARP = 1e6
"""The scale of ideal weights: far beyond where the logistic function is 0 or 1."""
SATURATED = 4.6
"""From this size on, z is read as true or false: the output is within 0.01 of 1 or 0."""
EQUAL, DIFFERENT = 1e-6, 3.0
"""Scaled differences below the first are zero; from the second on, tanh is within 0.01 of 1 or -1."""
IDEAL = {
    "lt": (-1.0, 0.0, -1.0),
    "gt": (1.0, 0.0, -1.0),
    "le": (-1.0, 0.0, 1.0),
    "ge": (1.0, 0.0, 1.0),
    "eq": (0.0, 1.0, 0.0),
    "ne": (0.0, -1.0, 0.0),
}
"""For each comparison: the scales of sign bit and zero bit, and the shift in units of 1 / sqrt(2)."""


def nsr(
    x: Tensor,
    operands: Tensor,
    sign_scale: Tensor,
    zero_scale: Tensor,
    shift: Tensor,
    redundancy: int = 1,
    scale: float = 1.0,
) -> Tensor:
    """Truth of comparisons, `*batch x n x out`.

    Args:
        x: inputs `*batch x n x in`.
        operands: weight of each input in the difference, `*batch x (out * redundancy) x in`.
        sign_scale: scale of the sign bit, `*batch x (out * redundancy)`.
        zero_scale: scale of the zero bit, of the same shape.
        shift: shift, of the same shape.
        redundancy: pairs per comparison, next to each other.
        scale: factor of the difference.
    """
    bit = torch.tanh(scale * weighted_sum(x, operands))
    z = bit * sign_scale[..., None, :] + (1 - 2 * bit.square()) * zero_scale[..., None, :]
    return torch.sigmoid((z + shift[..., None, :]).unflatten(-1, (-1, redundancy)).sum(-1))


class NSR(Unit):
    """Neural Status Register: learns which two inputs to compare, and how.

    Args:
        in_features: number of inputs.
        out_features: number of outputs; with `both`, comparisons and negations together.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        redundancy: pairs of operands that are learnt for each comparison.
        scale: the factor lambda of the difference of the operands.
        both: whether the second half of the outputs are the negations of the first.

    Example:
        >>> unit = nalm.NSR(3, 1)
        >>> unit.ideal_("lt", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 6.0]]))
        tensor([[1.]], grad_fn=<...>)
    """

    name = "nsr"
    ops = ("lt", "gt", "le", "ge", "eq", "ne")
    papers = ("faber2020", "mistry2023")
    unreadable = "a comparison involves more than two inputs, or has no clear answer"

    first: Tensor
    second: Tensor
    sign_scale: Tensor
    zero_scale: Tensor
    shift: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        redundancy: int = 1,
        scale: float = 1.0,
        both: bool = False,
        **common: Unpack[Common],
    ) -> None:
        self.redundancy = check_positive("redundancy", redundancy)
        self.scale, self.both = check_above_zero("scale", scale), both
        if both and check_positive("out_features", out_features) % 2:
            expected = "even with both=True, for comparisons and their negations"
            raise ArgumentError("out_features", expected, repr(out_features))
        super().__init__(in_features, out_features, **common)

    @property
    def comparisons(self) -> int:
        """How many comparisons are learnt."""
        return self.out_features // 2 if self.both else self.out_features

    @property
    def reading(self) -> str:  # type: ignore[override]
        """The smallest difference of operands for which the formula holds."""
        return f"for differences of at least {math.ceil(88.2 / self.scale) / 100:g}"

    def build(self) -> None:
        """Declare the parameters."""
        pairs = self.comparisons * self.redundancy
        operands = xavier_normal(self.in_features, self.comparisons)
        self.declare("first", (pairs, self.in_features), operands)
        self.declare("second", (pairs, self.in_features), operands)
        self.declare("sign_scale", (pairs,), Normal(0.0, 1.0))
        self.declare("zero_scale", (pairs,), Normal(0.0, 1.0))
        self.declare("shift", (pairs,), Constant(0.0))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weights = self.weights()
        operands = weights["first"] - weights["second"]
        scales = (self.sign_scale, self.zero_scale, self.shift)
        y = nsr(x, operands, *scales, self.redundancy, self.scale)
        return torch.cat([y, 1 - y], -1) if self.both else y

    def weights(self) -> dict[str, Tensor]:
        """The share of each input in the two operands of each pair."""
        return {"first": torch.softmax(self.first, -1), "second": torch.softmax(self.second, -1)}

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Compare the input where this matrix, one row per comparison, is 1 with the one where it is -1."""
        pairs = weight.repeat_interleave(self.redundancy, -2)
        self.first.copy_(CHOSEN * (pairs > 0))
        self.second.copy_(CHOSEN * (pairs < 0))

    @torch.no_grad()
    def snap_(self) -> None:
        """Make the input of largest weight the only operand; scales and shift are not changed."""
        for raw in (self.first, self.second):
            chosen = raw.argmax(-1, keepdim=True)
            raw.zero_().scatter_(-1, chosen, CHOSEN)

    def readable(self) -> bool:
        """Whether each comparison has one pair of operands and a clear answer in all three cases."""
        values = self.parameter_values()
        found = (_cases(self, values, k) for k in range(self.comparisons))
        return all(case is not None and (np.abs(case[2]) >= SATURATED).all() for case in found)

    def holds(self, x: Tensor) -> Tensor:
        """Rows whose operands are equal, or so different that the answer is clear."""
        weights = self.weights()
        z = self.scale * weighted_sum(x, weights["first"] - weights["second"])
        return ((z.abs() < EQUAL) | (z.abs() > DIFFERENT)).all(-1)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """Compare input i with input j, in all redundant pairs."""
        sign, zero, shift = (SHARP * value for value in IDEAL[op])
        for raw, chosen in ((self.first, i), (self.second, j)):
            raw.zero_()
            raw[..., chosen] = CHOSEN
        self.sign_scale.fill_(sign)
        self.zero_scale.fill_(zero)
        self.shift.fill_(shift / math.sqrt(2))

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """A relation for each output if idealised and readable, otherwise the probability."""
        import sympy as sp

        outputs = []
        for k in range(self.comparisons):
            case = _cases(self, values, k) if idealised else None
            if case is not None:
                i, j, z = case
                outputs.append(_relation(symbols[i], symbols[j], tuple(bool(v > 0) for v in z)))
            else:
                outputs.append(self._in_full(values, symbols, k))
        if not self.both:
            return outputs
        return outputs + [sp.Not(y) if isinstance(y, sp.logic.boolalg.Boolean) else 1 - y for y in outputs]

    def _in_full(self, values: dict[str, np.ndarray], symbols: list[Any], k: int) -> Any:
        import sympy as sp

        z = sp.Integer(0)
        for pair in range(k * self.redundancy, (k + 1) * self.redundancy):
            operands = _softmax(values["first"][pair]) - _softmax(values["second"][pair])
            bit = sp.tanh(number(self.scale) * linear(operands, symbols))
            z += number(values["shift"][pair]) + bit * number(values["sign_scale"][pair])
            z += (1 - 2 * bit**2) * number(values["zero_scale"][pair])
        return 1 / (1 + sp.exp(-z))

    def options_repr(self) -> str:
        """The options that differ from their defaults."""
        redundancy = "" if self.redundancy == 1 else f", redundancy={self.redundancy}"
        scale = "" if self.scale == 1 else f", scale={self.scale}"
        return redundancy + scale + (", both=True" if self.both else "")


def _softmax(values: np.ndarray) -> np.ndarray:
    return torch.softmax(torch.from_numpy(np.asarray(values)), -1).numpy()


def _cases(unit: NSR, values: dict[str, np.ndarray], k: int) -> tuple[int, int, np.ndarray] | None:
    """The operands i and j of comparison k, and its z for i < j, i = j, i > j; None for mixed operands."""
    pairs = range(k * unit.redundancy, (k + 1) * unit.redundancy)
    chosen = [(int(values["first"][p].argmax()), int(values["second"][p].argmax())) for p in pairs]
    i, j = chosen[0]
    z = np.zeros(3)
    for pair, operands in zip(pairs, chosen):
        if operands not in ((i, j), (j, i)):
            return None
        direction = 0 if i == j else 1 if operands == (i, j) else -1
        sign, zero = direction * values["sign_scale"][pair], values["zero_scale"][pair]
        z += values["shift"][pair]
        z += np.array([-sign - zero, zero, sign - zero]) if direction else zero
    return i, j, z


def _relation(a: Any, b: Any, truth: tuple[bool, ...]) -> Any:
    """The relation that is true where `truth` is, for a < b, a = b and a > b."""
    import sympy as sp

    relations = {
        (True, False, False): sp.Lt,
        (True, True, False): sp.Le,
        (False, True, False): sp.Eq,
        (True, False, True): sp.Ne,
        (False, True, True): sp.Ge,
        (False, False, True): sp.Gt,
    }
    if truth in relations:
        return relations[truth](a, b)
    return sp.true if truth[0] else sp.false
