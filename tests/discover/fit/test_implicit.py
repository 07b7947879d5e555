"""Polynomial relations: formulas by linear algebra alone, and none where there is none."""

import itertools

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.implicit import exponents, relations

A, B, C = SYMBOLS = tuple(sp.symbols("a b c", positive=True))
X = np.random.default_rng(0).uniform(1, 4, (100, 3))
COLUMNS = dict(zip(SYMBOLS, X.T))


def target(expression, x=X):
    return Formula(expression, SYMBOLS)(x)


def found(x, y, terms=(2, 80), **options):
    return next(iter(relations(x, y, SYMBOLS, [0, 1, 2], terms, **options)), None)


@pytest.mark.parametrize(
    "expression",
    [
        A + 2 * B - C / 4,
        A * B + 3 * C**2 - 1,
        (A + B) ** 3,
        A * B / (A + B),
        (A - B) / (1 + A * C),
        sp.sqrt(A**2 + B**2),
        sp.sqrt(A / (B + C)),
        A + sp.sqrt(B**2 + C),
        (-B + sp.sqrt(B**2 + 4 * A * C)) / (2 * A),
    ],
    ids=str,
)
def test_a_formula_whose_relation_is_in_the_list_is_found_to_rounding(expression):
    y = target(expression)
    made = found(X, y)
    assert made is not None
    np.testing.assert_allclose(target(made), y, rtol=1e-9)


@pytest.mark.parametrize("expression", [A * B / (A + B), sp.sqrt(A**2 + B**2)], ids=str)
def test_it_holds_outside_the_rows(expression):
    far = np.random.default_rng(1).uniform(10, 40, (50, 3))
    made = found(X, target(expression))
    np.testing.assert_allclose(target(made, far), target(expression, far), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
def test_units_make_no_difference(scale):
    y = target(A * B / (A + C))
    made = found(X * scale, y)
    assert made is not None
    np.testing.assert_allclose(target(made, X * scale), y, rtol=1e-9)


def test_of_two_roots_the_one_that_fits_is_taken():
    for sign in (1, -1):
        y = sign * np.sqrt(X[:, 0] ** 2 + X[:, 1])
        np.testing.assert_allclose(target(found(X, y)), y, rtol=1e-10)


@pytest.mark.parametrize(
    "y",
    [
        np.sin(X[:, 0]) * X[:, 1],
        np.exp(X[:, 0]) + X[:, 1] * X[:, 2],
        np.random.default_rng(2).normal(size=100),
    ],
    ids=["sine", "exponential", "random numbers"],
)
def test_nothing_is_found_where_there_is_no_relation(y):
    assert found(X, y, (2, 40)) is None


def test_noise_is_not_fitted():
    y = target(A * B / (A + B)) * (1 + 1e-6 * np.random.default_rng(3).normal(size=100))
    assert found(X, y, (2, 40)) is None


def test_rows_that_could_not_contradict_it_give_nothing():
    x = X[:6]
    for made in relations(x, np.random.default_rng(4).normal(size=6), SYMBOLS, [0, 1, 2], (2, 80)):
        pytest.fail(f"{made} from 6 random rows")


def test_the_number_of_unknowns_is_as_asked_for():
    y = target(A + B)
    assert found(X, y, (2, 5)) is not None
    assert list(relations(X, np.sin(y), SYMBOLS, [0, 1, 2], (5, 5))) == []


def test_nothing_is_tried_when_time_is_over():
    assert found(X, target(A + B), late=lambda: True) is None


def test_the_first_columns_of_the_order_are_tried_first():
    y = target(C**2 + 1)
    made = next(iter(relations(X, y, SYMBOLS, [2, 0, 1], (2, 80))))
    assert made.free_symbols == {C}


def test_exponents_are_all_those_up_to_a_degree_once():
    for inputs, degree in itertools.product((1, 2, 3), (0, 1, 2, 4)):
        made = exponents(inputs, degree)
        everything = [e for e in itertools.product(range(degree + 1), repeat=inputs) if sum(e) <= degree]
        assert sorted(map(tuple, made.tolist())) == sorted(everything)
        assert (np.diff(made.sum(1)) >= 0).all()
