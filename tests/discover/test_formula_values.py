"""Expressions of sympy in numbers: the values of sympy, in float64, without compiling."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.formula_values import tree_of, values

A, B = SYMBOLS = sp.symbols("a b", real=True)
EXPRESSIONS = [
    A + B - 3,
    A * B / 7,
    A**3 - B**-2,
    sp.sqrt(A + B),
    1 / sp.sqrt(A * B),
    A ** sp.Rational(5, 2) / B ** sp.Rational(3, 2),
    sp.Abs(A - B),
    (A + B) / (A - 10) ** 2,
    sp.pi * A + sp.sqrt(3) / B,
    sp.Float(1.25, 15) * A,
    -A,
    sp.Rational(2, 3) * A * (B + 1) ** -1,
]


def columns(n=30, seed=0):
    x = np.random.default_rng(seed).uniform(0.5, 3, (n, 2))
    return {A: x[:, 0], B: x[:, 1]}


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_values_are_those_of_sympy(expression):
    made = columns()
    expected = [
        float(expression.subs({A: a, B: b}).evalf(30)) for a, b in zip(made[A].tolist(), made[B].tolist())
    ]
    np.testing.assert_allclose(values(expression, made, 30), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_slopes_are_those_of_sympy(expression):
    made = columns()
    tree = tree_of(expression, SYMBOLS)
    _, slopes = tree.at(list(made.values()), {0: np.array([[1.0], [0.0]]), 1: np.array([[0.0], [1.0]])})
    for k, symbol in enumerate(SYMBOLS):
        expected = values(sp.diff(expression, symbol).replace(sp.sign, lambda s: s / sp.Abs(s)), made, 30)
        np.testing.assert_allclose(np.broadcast_to(slopes, (2, 30))[k], expected, rtol=1e-12, atol=1e-13)


def test_a_quotient_and_a_root_are_rounded_once():
    made = columns(200)
    np.testing.assert_array_equal(values(A / B, made, 200), made[A] / made[B])
    np.testing.assert_array_equal(values(A / 3, made, 200), made[A] / 3)
    np.testing.assert_array_equal(values(sp.sqrt(A), made, 200), np.sqrt(made[A]))


def test_a_number_has_a_value_in_every_row():
    np.testing.assert_array_equal(values(sp.Rational(3, 4), columns(5), 5), np.full(5, 0.75))


def test_there_is_no_value_where_there_is_no_real_one(recwarn):
    made = {A: np.array([-1.0, 0.0, 4.0]), B: np.ones(3)}
    np.testing.assert_array_equal(values(sp.sqrt(A), made, 3), [np.nan, 0.0, 2.0])
    assert not np.isfinite(values(1 / A, made, 3)[1])
    assert np.isnan(values(sp.sqrt(-2) * B, made, 3)).all()
    assert not recwarn.list


def test_whole_powers_of_negative_numbers_have_their_sign():
    made = {A: np.array([-2.0, 3.0]), B: np.ones(2)}
    np.testing.assert_array_equal(values(A**3, made, 2), [-8.0, 27.0])
    np.testing.assert_array_equal(values(A**-1, made, 2), [-0.5, 1 / 3])
    np.testing.assert_array_equal(values(A**2, made, 2), [4.0, 9.0])


def test_numbers_of_any_size_stay_what_they_are():
    made = {A: np.array([1e-30, 1e30]), B: np.array([1e-30, 1e30])}
    np.testing.assert_array_equal(values(A / B, made, 2), [1.0, 1.0])
    np.testing.assert_allclose(values(A * B, made, 2), [1e-60, 1e60], rtol=1e-15)


@pytest.mark.parametrize("expression", [sp.sin(A), sp.exp(A), sp.Max(A, B), A**B], ids=str)
def test_what_is_no_part_of_formulas_is_refused(expression):
    with pytest.raises(TypeError):
        values(expression, columns(), 30)
