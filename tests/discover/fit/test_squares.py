"""The three terms of a square are written as the square, and nothing else changes."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.squares import with_squares, without_idle_signs

A, B, C, D = sp.symbols("a b c d", positive=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (A**2 - 2 * A * B + B**2, (A - B) ** 2),
        (A**2 + 2 * A * B + B**2, (A + B) ** 2),
        (A**2 + 4 * A * B + 4 * B**2, (A + 2 * B) ** 2),
        (9 * A**2 - 3 * A + sp.Rational(1, 4), (3 * A - sp.Rational(1, 2)) ** 2),
        (A**4 - 2 * A**2 * B + B**2, (A**2 - B) ** 2),
        (A**2 - 2 * A * B + B**2 + C, (A - B) ** 2 + C),
        (sp.sqrt(A**2 - 2 * A * B + B**2 + C**2 - 2 * C * D + D**2), sp.sqrt((A - B) ** 2 + (C - D) ** 2)),
    ],
    ids=str,
)
def test_a_square_is_found(given, expected):
    found = with_squares(given)
    assert sp.expand(found**2 - expected**2) == 0
    assert sp.count_ops(found) == sp.count_ops(expected)


def test_a_square_of_decimal_numbers_is_found_up_to_their_last_digits():
    small = sp.Float(1 / 110.4, 15)
    given = small**2 * A**2 + 2 * sp.Rational(5, 552) * A + 1
    assert with_squares(given).is_Pow
    assert not with_squares(given + 1e-9 * A).is_Pow


@pytest.mark.parametrize(
    "given",
    [
        A**2 + B**2,
        A**2 - 3 * A * B + B**2,
        A**2 - 2 * A * B - B**2,
        A**2 - 2 * A * C + B**2,
        A + B,
        A,
        sp.Integer(3),
        A**3 - 2 * A * B + B**2,
    ],
    ids=str,
)
def test_what_is_no_square_stays_as_it_is(given):
    assert with_squares(given) == given


@pytest.mark.parametrize("seed", range(5))
def test_the_value_never_changes(seed):
    terms = [A**2, -2 * A * B, B**2, C**2, 2 * B * C, D, A * D]
    some = sp.Add(*(t for k, t in enumerate(terms) if (seed * 37 + 11) >> k & 1))
    assert sp.expand(with_squares(sp.sqrt(some)) ** 2 - some) == 0


def test_absolute_values_of_what_keeps_its_sign_are_not_needed():
    a, b = symbols = sp.symbols("a b", real=True)
    x = np.array([[3.0, 1.0], [5.0, 2.0]])
    assert without_idle_signs(sp.Abs(a - b) / b, symbols, x) == (a - b) / b
    assert without_idle_signs(sp.Abs(b - a) / b, symbols, x) == (a - b) / b
    mixed = np.array([[3.0, 1.0], [1.0, 2.0]])
    assert without_idle_signs(sp.Abs(a - b), symbols, mixed) == sp.Abs(a - b)
