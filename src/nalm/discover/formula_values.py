"""Formulas in numbers: a sympy expression computed on arrays in float64, with its slopes.

Compiling an expression with sympy takes longer than computing it a thousand times on a few hundred
rows. Here it becomes a tree of sums, quotients and powers, which is walked; slopes are carried along (forward
mode).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

Pair = tuple[Any, np.ndarray | None]
"""Values, shape `n`, and slopes, `p x n`; None where there are none."""


def values(expression: sp.Expr, columns: Mapping[sp.Symbol, np.ndarray], rows: int) -> np.ndarray:
    """The values, shape `rows`, of an expression; NaN where it has none.

    Args:
        expression: sums, products, powers and absolute values of symbols and numbers.
        columns: the numbers of each symbol, shape `rows`.
        rows: how many there are.
    """
    tree = tree_of(expression, list(columns))
    with np.errstate(all="ignore"):
        made, _ = tree.at(list(columns.values()), {})
        return np.array(np.broadcast_to(made, rows), dtype=np.float64)


@dataclass(frozen=True)
class Tree:
    """A node of a formula.

    Attributes:
        kind: number, input, sum, quotient, power or absolute.
        parts: further nodes; for a quotient, those above.
        below: for a quotient, the nodes below.
        value: a number, the place of an input, or an exponent.
    """

    kind: str
    parts: tuple[Tree, ...] = ()
    below: tuple[Tree, ...] = ()
    value: Any = 0.0

    def at(self, inputs: Sequence[Any], slopes: Mapping[int, np.ndarray]) -> Pair:
        """Values and slopes.

        Args:
            inputs: the numbers of each symbol: arrays of shape `n`, or single numbers.
            slopes: of the inputs that slopes are wanted by, `p x n` or `p x 1`.
        """
        if self.kind == "number":
            return np.float64(self.value), None
        if self.kind == "input":
            return inputs[self.value], slopes.get(self.value)
        pairs = [part.at(inputs, slopes) for part in self.parts]
        if self.kind == "sum":
            return _sum(pairs)
        if self.kind == "quotient":
            return _quotient(pairs, [part.at(inputs, slopes) for part in self.below])
        value, slope = pairs[0]
        if self.kind == "absolute":
            return np.abs(value), None if slope is None else np.sign(value) * slope
        raised = _power(value, self.value)
        return raised, None if slope is None else self.value * _power(value, self.value - 1) * slope


def tree_of(expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> Tree:
    """The tree of an expression, with inputs numbered as their symbols are listed."""
    places = {symbol: k for k, symbol in enumerate(symbols)}
    return _tree(expression, places)


def _tree(node: sp.Expr, places: Mapping[sp.Symbol, int]) -> Tree:
    if node.is_Symbol:
        return Tree("input", value=places[node])
    if node.is_number:
        with np.errstate(all="ignore"):
            return Tree("number", value=float(_number(node)))
    if node.is_Add:
        return Tree("sum", tuple(_tree(part, places) for part in node.args))
    if node.is_Mul or (node.is_Pow and node.exp.could_extract_minus_sign()):
        return _fraction(node, places)
    if node.is_Pow:
        return Tree("power", (_tree(node.base, places),), value=_exponent(node.exp))
    if isinstance(node, sp.Abs):
        return Tree("absolute", (_tree(node.args[0], places),))
    raise TypeError(f"{type(node).__name__} is not part of formulas")


def _number(node: sp.Expr) -> np.float64:
    """A number in float64, part by part: sympy would compute all digits of a power of a power."""
    if not node.args:
        return np.float64(np.nan if node is sp.I else float(node))
    parts = [_number(part) for part in node.args]
    if node.is_Add:
        return np.float64(np.sum(parts))
    if node.is_Mul:
        return np.float64(np.prod(parts))
    if node.is_Pow:
        return np.float64(_power(parts[0], float(parts[1])))
    if isinstance(node, sp.Abs):
        return np.abs(parts[0])
    raise TypeError(f"{type(node).__name__} is not part of formulas")


def _fraction(node: sp.Expr, places: Mapping[sp.Symbol, int]) -> Tree:
    """A product, with what is below a fraction bar divided by: one rounding less than a reciprocal."""
    above: list[Tree] = []
    below: list[Tree] = []
    for factor in sp.Mul.make_args(node):
        if factor.is_Rational and factor.q != 1:
            above.append(Tree("number", value=float(factor.p)))
            below.append(Tree("number", value=float(factor.q)))
        elif factor.is_Pow and not factor.is_number and factor.exp.could_extract_minus_sign():
            below.append(_tree(1 / factor, places))
        else:
            above.append(_tree(factor, places))
    one = (Tree("number", value=1.0),)
    return Tree("quotient", tuple(above) or one, tuple(below))


def _exponent(exponent: sp.Expr) -> int | float:
    return int(exponent) if exponent.is_Integer else float(exponent)


def _sum(pairs: Sequence[Pair]) -> Pair:
    total, slope = pairs[0]
    for value, by in pairs[1:]:
        total = total + value
        slope = by if slope is None else slope if by is None else slope + by
    return total, slope


def _quotient(above: Sequence[Pair], below: Sequence[Pair]) -> Pair:
    value, slope = _product(above)
    if not below:
        return value, slope
    under, by = _product(below)
    whole = value / under
    if by is None:
        return whole, None if slope is None else slope / under
    return whole, (0.0 if slope is None else slope / under) - whole / under * by


def _product(pairs: Sequence[Pair]) -> Pair:
    value, slope = pairs[0]
    for factor, by in pairs[1:]:
        rising = None if slope is None else slope * factor
        more = None if by is None else value * by
        slope = more if rising is None else rising if more is None else rising + more
        value = value * factor
    return value, slope


def _power(base: Any, exponent: int | float) -> Any:
    if exponent == 0.5:
        return np.sqrt(base)  # correctly rounded, which a power is not
    if exponent == -0.5:
        return 1 / np.sqrt(base)
    return np.power(np.asarray(base, dtype=np.float64), exponent)
