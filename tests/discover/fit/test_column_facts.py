"""What a column tells: its different values, and the terms of a series that its range shows."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.column_facts import thin_columns
from nalm.discover.fit.formula import Formula

A, B = SYMBOLS = sp.symbols("a b", real=True)
RNG = np.random.default_rng(0)
BITS = 48.0


def thin(expression, a, bits=BITS):
    x = np.column_stack([a, RNG.uniform(1, 5, len(a))])
    return [
        (each.column, each.values, each.numbers)
        for each in thin_columns(Formula(expression, SYMBOLS), x, bits)
    ]


def whole(values):
    return RNG.integers(1, values + 1, 200).astype(float)


@pytest.mark.parametrize("values", [4, 5, 7])
def test_few_values_do_not_choose_many_numbers(values):
    four = B * (3 + 7 * A) / (5 + 2 * A)
    assert thin(four, whole(values)) == [(0, values, 4)]


def test_few_values_are_enough_for_few_numbers():
    assert thin(B * A * (A + 1) / 2, whole(4)) == []
    assert thin(A * B + sp.Float(4.99), whole(5)) == []


@pytest.mark.parametrize("width", [1e-5, 1e-4, 1e-3])
def test_a_short_range_shows_too_few_terms_of_a_series(width):
    rational = B * (1.35 * A - 1.31) / (A / 2 + 1)
    assert thin(rational, RNG.uniform(2, 2 + width, 100)) == [(0, None, 3)]
    assert thin(rational, RNG.uniform(1, 5, 100)) == []


def test_small_arguments_are_a_short_range_though_they_begin_at_zero():
    assert thin(B * (2 + A) / (2 - A), RNG.uniform(0, 1e-5, 100)) == [(0, None, 2)]
    assert thin(sp.sqrt(A / 3 + sp.Rational(1, 4)) + sp.Rational(1, 2), RNG.uniform(0, 1e-5, 100))


def test_powers_have_no_numbers_beside_them():
    assert thin(sp.Float(3.7) * B * A**2, RNG.uniform(2, 2.00002, 100)) == []


def test_coarse_data_show_fewer_terms():
    line, small = B + sp.Float(0.99998) * A, RNG.uniform(0, 0.01, 100)
    assert thin(line, small) == []
    assert thin(line, small, bits=20.0) == [(0, None, 1)]


def test_the_sentence_names_the_column():
    x = np.column_stack([whole(4), RNG.uniform(1, 5, 200)])
    (found,) = thin_columns(Formula((3 + 7 * A) / (5 + 2 * A), SYMBOLS), x, BITS)
    assert found.sentence("tier").startswith(
        "Column tier has only 4 different values: too few to choose the 4"
    )
