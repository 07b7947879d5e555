"""Formulas like one that was found behind noise, with other powers.

Noise leaves open which power an inner sum has, and with it the exponents inside: (1 + 0.3 v^(5/2))^(5/2) may
be (1 - v^2)^(-1/2). Simpler powers are tried; which formula is the best is then a matter of error and length.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

_POWERS = tuple(sp.Rational(p) for p in ("-1/2", "-1", "1/2", "-2", "2", "1"))
_SHIFTS = (Fraction(0), Fraction(-1, 2), Fraction(1, 2))


def neighbours(expression: sp.Expr) -> Iterator[sp.Expr]:
    """Formulas with other powers of one inner sum, or with whole exponents instead of halves."""
    for shift in _SHIFTS[1:]:
        yield _shifted(expression, shift)
    for power in sorted(expression.atoms(sp.Pow), key=sp.default_sort_key):
        if not (power.base.is_Add and power.base.free_symbols and power.exp.is_Rational):
            continue
        for exponent in _POWERS:
            for shift in _SHIFTS:
                inner = _scaled(_shifted(power.base, shift), power.exp / exponent)
                if (exponent, shift) != (power.exp, 0):
                    yield expression.xreplace({power: inner**exponent})


def _shifted(expression: sp.Expr, shift: Fraction) -> sp.Expr:
    """The expression with odd halves above 1 among its exponents moved to whole numbers."""
    moved = {}
    for power in expression.atoms(sp.Pow):
        odd_half = power.exp.is_Rational and power.exp.q == 2 and abs(power.exp) > 1
        if shift and odd_half and power.base.is_Symbol:
            step = sp.Rational(shift.numerator, shift.denominator)
            moved[power] = power.base ** (power.exp + step * sp.sign(power.exp))
    return expression.xreplace(moved)


def _scaled(inner: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """1 + s as 1 + factor s: the sum whose other power is the same to first order."""
    number, rest = inner.as_coeff_Add()
    return number + sp.Add(*(float(factor) * term for term in sp.Add.make_args(rest)))
