"""Squares of sums in an expression: a^2 - 2 a b + b^2 is written (a - b)^2.

It is shorter, and it is computed without the cancellation that costs digits where a and b are close.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula

_ROUNDING = 1e-13
"""Decimal numbers of 15 digits that differ by less are the same."""


def with_squares(expression: sp.Expr) -> sp.Expr:
    """The expression with every sum that contains the three terms of a square written with the square."""
    if not expression.args:
        return expression
    node = expression.func(*(with_squares(argument) for argument in expression.args))
    while isinstance(node, sp.Add):
        shorter = _one_square(node)
        if shorter is None:
            break
        node = shorter
    return node


def _one_square(node: sp.Add) -> sp.Expr | None:
    """The sum with one square found, or None."""
    roots = {term: root for term in node.args if (root := _root(term)) is not None}
    for cross in node.args:
        for first, a in roots.items():
            for second, b in roots.items():
                if sp.default_sort_key(first) >= sp.default_sort_key(second) or cross in (first, second):
                    continue
                for sign in (1, -1):
                    if _is_same(cross, 2 * sign * a * b):
                        return sp.Add(
                            *(t for t in node.args if t not in (cross, first, second)), (a + sign * b) ** 2
                        )
    return None


def _root(term: sp.Expr) -> sp.Expr | None:
    """The root of a term with even powers and a positive coefficient, or None."""
    coefficient, rest = term.as_coeff_Mul()
    if not (coefficient.is_Rational or coefficient.is_Float) or coefficient <= 0:
        return None
    powers = rest.as_powers_dict()
    if not all((e.is_Integer and e % 2 == 0) or base == 1 for base, e in powers.items()):
        return None
    root = sp.sqrt(coefficient)
    if not (root.is_Rational or root.is_Float):
        return None
    return root * sp.Mul(*(base ** (e / 2) for base, e in powers.items()))


def _is_same(term: sp.Expr, other: sp.Expr) -> bool:
    """Whether two terms are equal, up to the last digits of decimal numbers."""
    ratio = term / other
    return bool(ratio == 1 or (ratio.is_Float and abs(ratio - 1) < _ROUNDING))


def without_idle_signs(expression: sp.Expr, symbols: tuple[sp.Symbol, ...], x: np.ndarray) -> sp.Expr:
    """The expression without absolute values of what has the same sign in every row."""
    for absolute in expression.atoms(sp.Abs):
        inner = absolute.args[0]
        values = Formula(inner, symbols)(x)
        if (values >= 0).all():
            expression = expression.xreplace({absolute: inner})
        elif (values <= 0).all():
            expression = expression.xreplace({absolute: -inner})
    return expression
