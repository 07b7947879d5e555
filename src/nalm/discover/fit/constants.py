"""Simple numbers near a fitted one: whole numbers, fractions, short decimals, and these times pi or a root.

A simple number is taken for a fitted one if it lies within the fitted one's uncertainty, and if there are so
few numbers as simple as it that one would hardly lie there by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

_BITS_TO_SPARE = 5.0
"""A number must be known to so many bits more than it takes to write the simple one."""
_WIDTH = 4.0
"""How many standard deviations a simple number may be away."""
_ROUNDINGS = 4e-15
"""A fitted number is never known better than to a few roundings."""
_MOST_DENOMINATOR = 2000
_MOST_DIGITS = 9
_DECIMAL_FROM = 20
"""Fractions of tens, such as 981/100, are written as decimals from this denominator on."""
_NAMED: tuple[tuple[sp.Expr, float], ...] = (
    (sp.Integer(1), 0.0),
    (sp.pi, 3.0),
    (1 / sp.pi, 4.0),
    (sp.pi**2, 5.0),
    (1 / sp.pi**2, 5.0),
    (sp.sqrt(2), 5.0),
    (sp.sqrt(3), 6.0),
    (sp.sqrt(sp.pi), 6.0),
    (1 / sp.sqrt(sp.pi), 6.0),
    (sp.sqrt(2) * sp.pi, 7.0),
)
"""Named factors, and the bits that it takes to name them."""
_FACTORS = tuple((factor, float(factor), bits) for factor, bits in _NAMED)


@dataclass(frozen=True)
class Simple:
    """A simple number and the bits that it takes to write it."""

    number: sp.Expr
    bits: float


def simple(value: float, uncertainty: float) -> Simple | None:
    """The simplest number that a fitted value can be taken for, or None.

    Args:
        value: the fitted value.
        uncertainty: its standard deviation.
    """
    if not math.isfinite(value) or not math.isfinite(uncertainty):
        return None
    known = math.log2(max(abs(value), 1e-300) / max(uncertainty, 1e-16 * abs(value), 1e-300))
    near = [found for found in _near(value, _WIDTH * uncertainty) if found[0] + _BITS_TO_SPARE <= known]
    if not near:
        return None
    bits, text, factor = min(near, key=lambda found: found[0])
    return Simple(sp.Rational(text) * factor, bits)


def _near(value: float, width: float) -> Iterator[tuple[float, str, sp.Expr]]:
    """Simple numbers that are at most this far away: their bits, and a fraction with a named factor."""
    width = max(width, _ROUNDINGS * abs(value))
    for factor, size, cost in _FACTORS:
        fraction = _fraction(value / size, width / size)
        if fraction is not None:
            yield cost + _bits(fraction), str(fraction), factor
    for digits in range(1, _MOST_DIGITS + 1):
        text = f"{value:.{digits - 1}e}"
        if abs(float(text) - value) <= width:
            yield 3 + 3.33 * digits, text, sp.Integer(1)
            return


def _fraction(value: float, width: float) -> Fraction | None:
    """The fraction of the smallest denominator within the width."""
    if abs(value) > 1e9:
        return None
    whole = round(value)
    if abs(whole - value) <= width:
        return Fraction(whole)
    # Continued fractions: every best approximation is among their convergents and what lies between.
    exact = Fraction(value)
    for denominator in (
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        12,
        15,
        16,
        20,
        24,
        32,
        50,
        64,
        100,
        200,
        500,
        _MOST_DENOMINATOR,
    ):
        near = exact.limit_denominator(denominator)
        if abs(float(near) - value) <= width:
            return near
    return None


def _bits(fraction: Fraction) -> float:
    numerator = math.log2(1 + abs(fraction.numerator))
    return 1 + numerator + (0.0 if fraction.denominator == 1 else 1 + math.log2(fraction.denominator))


def as_decimals(expression: sp.Expr) -> sp.Expr:
    """The expression with fractions that are short decimals written as such: 9.81, but 1/2 and 1/72."""

    def shown(number: sp.Rational) -> sp.Expr:
        twos_and_fives = number.q
        for prime in (2, 5):
            while twos_and_fives % prime == 0:
                twos_and_fives //= prime
        return sp.Float(float(number), 15) if twos_and_fives == 1 and number.q >= _DECIMAL_FROM else number

    def visit(node: sp.Expr) -> sp.Expr:
        if node.is_zero:
            return sp.Integer(0)
        if node.is_Rational:
            return shown(node)
        if not node.args:
            return node
        if node.is_Pow:
            return sp.Pow(visit(node.base), node.exp)
        return node.func(*(visit(argument) for argument in node.args))

    return visit(expression)
