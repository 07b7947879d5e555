"""What may be said of a formula: exact where all rows are met and could have contradicted it."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.verdict import Verdict, judged

NAMES = ["a", "b", "c"]
A, B, C = SYMBOLS = tuple(sp.Symbol(name, real=True) for name in NAMES)
X = np.random.default_rng(0).uniform(1, 5, (100, 3))
NOISE = np.random.default_rng(1).normal(size=100)
RIGHT = [A * B**2 / 2, A * B / (A + C), sp.sqrt(A**2 + B**2), A - 3 * B + sp.pi * C]


def values(expression, x=X):
    return Formula(expression, SYMBOLS)(x)


def said(expression, y, x=X):
    return judged(Formula(expression, SYMBOLS), x, y, NAMES)


@pytest.mark.parametrize("expression", RIGHT, ids=str)
def test_the_right_formula_is_exact_without_notes(expression):
    found = said(expression, values(expression))
    assert (found.verdict, found.notes, found.error, found.r2) == (Verdict.EXACT, (), 0.0, 1.0)


@pytest.mark.parametrize("expression", RIGHT, ids=str)
def test_a_target_that_was_computed_in_another_order_is_exact(expression):
    lambdified = sp.lambdify(SYMBOLS, sp.expand(sp.together(expression)))
    assert said(expression, lambdified(*X.T)).verdict == Verdict.EXACT


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1e6, 1e30])
def test_units_make_no_difference(size):
    assert said(sp.Float(size, 15) * A * B, size * X[:, 0] * X[:, 1]).verdict == Verdict.EXACT


def test_a_formula_that_is_a_little_off_is_approximate():
    y = values(A * B)
    for off in (1e-12, 1e-9, 1e-3):
        assert said(A * B, y * (1 + off)).verdict == Verdict.APPROXIMATE
        assert said(A * B, y * (1 + off * NOISE)).verdict == Verdict.APPROXIMATE


def test_the_error_and_the_worst_row_of_an_approximation_are_told():
    y = values(A * B) + 0.1 * NOISE
    found = said(A * B, y)
    (note,) = found.notes
    assert found.error == pytest.approx(0.1 * np.sqrt(np.mean(NOISE**2)))
    assert found.r2 == pytest.approx(1 - np.mean((0.1 * NOISE) ** 2) / y.var())
    assert f"row {np.argmax(np.abs(NOISE))} " in note
    assert "100 rows" in note


def test_a_formula_that_explains_less_than_half_is_none():
    assert said(A * B, 10 * NOISE).verdict == Verdict.NONE
    assert said(sp.Float(0.5, 15), NOISE).verdict == Verdict.NONE


def test_rows_that_are_off_are_named_and_it_is_not_exact():
    y = values(A * B)
    y[[7, 70]] += 1.0
    found = said(A * B, y)
    assert found.verdict == Verdict.APPROXIMATE
    assert "7, 70" in found.notes[0]


def test_the_row_in_which_it_has_no_value_is_named():
    x = X.copy()
    x[:, 0] -= 3
    found = said(sp.sqrt(A) * B, values(B, x), x)
    assert found.verdict == Verdict.NONE
    assert f"row {np.flatnonzero(x[:, 0] < 0)[0]}" in found.notes[0]


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_few_rows_are_never_enough_for_a_long_formula(rows):
    long = sp.Float(1.2345678901, 15) * A * B / (C + sp.Float(0.3456789012, 15))
    found = said(long, values(long, X[:rows]), X[:rows])
    assert found.verdict == Verdict.APPROXIMATE
    assert "too little information" in found.notes[0]


def test_few_rows_of_whole_numbers_say_little():
    x = np.random.default_rng(2).integers(1, 10, (6, 3)).astype(float)
    assert said(A * B - C, values(A * B - C, x), x).verdict == Verdict.APPROXIMATE


def test_the_same_row_many_times_is_one_row():
    x = np.repeat(X[:3], 40, axis=0)
    assert said(A * B / (A + C), values(A * B / (A + C), x), x).verdict == Verdict.APPROXIMATE


def test_a_formula_of_many_long_numbers_is_an_approximation():
    numbers = np.random.default_rng(3).uniform(1, 2, 8)
    long = sum(sp.Float(c, 15) * A**k for k, c in enumerate(numbers))
    found = said(long, values(long))
    assert found.verdict == Verdict.APPROXIMATE
    assert "numbers of many digits" in found.notes[0]


def test_a_column_with_few_values_is_named():
    x = X.copy()
    x[:, 0] = np.random.default_rng(4).choice([1.0, 2.0, 3.0], 100)
    found = said(A * B, values(A * B, x), x)
    assert found.verdict == Verdict.APPROXIMATE
    assert "Column a has only 3 different values" in found.notes[0]


@pytest.mark.parametrize("expression", [sp.Abs(A - 3), sp.sqrt(A**2 - 6 * A + 9) * B], ids=str)
def test_an_absolute_value_is_never_exact(expression):
    assert said(expression, values(expression)).verdict != Verdict.EXACT


@pytest.mark.parametrize(
    ("third", "named"),
    [
        (X[:, 0], ("a", "c")),
        (2 * X[:, 0] - 1, ("a", "c")),
        (X[:, 0] + X[:, 1], ("a", "b", "c")),
        (X[:, 0] * X[:, 1], ("a", "b", "c")),
        (1 / X[:, 0], ("a", "c")),
    ],
    ids=["copy", "line", "sum", "product", "reciprocal"],
)
def test_columns_that_could_stand_for_those_it_reads_are_named(third, named):
    x = np.column_stack([X[:, :2], third])
    found = said(A * B**2, values(A * B**2, x), x)
    assert found.verdict == Verdict.APPROXIMATE
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    assert any(f"Columns {listed} are tied" in note for note in found.notes)


def test_columns_that_it_does_not_read_may_depend_on_each_other():
    x = np.column_stack([X[:, 0], X[:, 1], 2 * X[:, 1]])
    assert said(A**2, values(A**2, x), x).verdict == Verdict.EXACT


@pytest.mark.parametrize(
    ("value", "expression"), [(1.0, A * B), (3.0, 3 * A * B), (2.0, A * B / 2), (9.81, A * 9.81 / 2)], ids=str
)
def test_a_constant_column_that_may_be_a_number_of_the_formula_is_named(value, expression):
    x = X.copy()
    x[:, 2] = value
    found = said(sp.sympify(expression), values(sp.sympify(expression), x), x)
    assert found.verdict == Verdict.APPROXIMATE
    assert any(f"Column c is always {value:g}" in note for note in found.notes)


def test_a_constant_column_that_is_no_number_of_the_formula_does_not_matter():
    x = X.copy()
    x[:, 2] = 7.3125
    assert said(A * B, values(A * B, x), x).verdict == Verdict.EXACT


def test_float32_data_are_met_to_their_own_precision():
    x = X.astype(np.float32)
    y = x[:, 0] * x[:, 1] / x[:, 2]
    wide = x.astype(np.float64), y.astype(np.float64)
    assert said(A * B / C, wide[1], wide[0]).verdict == Verdict.EXACT
    assert said(A * B / C, wide[1] * (1 + 1e-5), wide[0]).verdict == Verdict.APPROXIMATE


def test_data_rounded_to_decimals_are_met_to_half_a_unit():
    x = X.round(2)
    y = values(A * B / (A + C), x).round(4)
    assert said(A * B / (A + C), y, x).verdict == Verdict.EXACT
    assert said(A * B / (A + C), (y + 3e-4).round(4), x).verdict == Verdict.APPROXIMATE
