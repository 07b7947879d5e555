"""Formulas in numbers: a sympy expression computed on arrays, in float64, without making code of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp


def values(expression: sp.Expr, columns: Mapping[sp.Symbol, np.ndarray], rows: int) -> np.ndarray:
    """The values, shape `rows`, of an expression; NaN where it has none.

    Args:
        expression: sums, products, powers and absolute values of symbols and numbers.
        columns: the numbers of each symbol, shape `rows`.
        rows: how many there are.
    """
    with np.errstate(all="ignore"):
        return np.array(np.broadcast_to(_value(expression, columns), rows), dtype=np.float64)


def _value(node: sp.Expr, columns: Mapping[sp.Symbol, np.ndarray]) -> np.ndarray:
    if node.is_Symbol:
        return columns[node]
    if node.is_number and not node.args:
        return np.array(float(node))
    parts = [_value(part, columns) for part in node.args]
    if node.is_Add:
        return _summed(parts)
    if node.is_Mul:
        return _multiplied(parts)
    if node.is_Pow:
        return _power(parts[0], parts[1], node.exp)
    if isinstance(node, sp.Abs):
        return np.abs(parts[0])
    raise TypeError(f"{type(node).__name__} is not part of formulas")


def _summed(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _multiplied(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total = total * part
    return total


def _power(base: np.ndarray, exponent: np.ndarray, exact: sp.Expr) -> np.ndarray:
    if exact == sp.Rational(1, 2):
        return np.sqrt(base)  # correctly rounded, which a power is not
    if exact == sp.Rational(-1, 2):
        return 1 / np.sqrt(base)
    return np.power(base, exponent)
