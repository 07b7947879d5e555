"""Sums and products of powers are found by search, and read as formulas with halves as exponents."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.powers import LARGE, SMALL, Shape, power_formulas

A, B, C = SYMBOLS = tuple(sp.symbols("a b c", positive=True))
X = np.random.default_rng(0).uniform(1, 5, (100, 3))
HALVES = {sp.Rational(k, 2) for k in range(-12, 13)}


def target(expression, x=X):
    return Formula(expression, SYMBOLS)(x)


def found(shape, y, x=X, seed=0, **options):
    return list(power_formulas(shape, x, y, SYMBOLS, np.random.default_rng(seed), **options))


def fitted_error(expression, y):
    formula, _ = Formula(expression, SYMBOLS).fitted(X, y)
    return float(np.sqrt(np.mean((formula(X) - y) ** 2)) / y.std())


@pytest.mark.parametrize(
    ("shape", "expression"),
    [
        (Shape((), (1,)), 3 * A / sp.sqrt(B + 2 * C)),
        (Shape((), (1, 1)), (A + B) / (1 + C**2)),
        (Shape((False, False), ()), 2 * A * B + sp.sqrt(C)),
        (Shape((False, False, False), ()), A * B + 3 / C - sp.sqrt(A)),
        (Shape((True, False), (1,)), A * sp.sqrt(1 + B**2) + 2 * C),
    ],
    ids=str,
)
def test_a_formula_of_its_shape_is_found(shape, expression):
    y = target(expression)
    assert min(fitted_error(made, y) for made in found(shape, y)) < 1e-9


def test_all_exponents_are_halves():
    noisy = target(A * B + C) + 0.05 * np.random.default_rng(1).normal(size=100)
    for shape in SMALL[:4]:
        for made in found(shape, noisy, noisy=True):
            assert {power.exp for power in made.atoms(sp.Pow)} <= HALVES


def test_noise_does_not_hide_the_shape():
    y = target(3 * A / sp.sqrt(B + 2 * C)) * (1 + 0.01 * np.random.default_rng(2).normal(size=100))
    assert min(fitted_error(made, y) for made in found(SMALL[0], y, noisy=True)) < 0.05


def test_the_target_may_be_negative():
    y = -target(A / (B + C))
    assert min(fitted_error(made, y) for made in found(SMALL[0], y)) < 1e-9


def test_a_product_is_not_looked_for_where_the_target_is_zero():
    y = target(A - B)
    y[0] = 0.0
    assert found(Shape((), (1,)), y) == []


def test_the_same_seed_gives_the_same_formulas():
    y = target(2 * A * B + sp.sqrt(C))
    assert found(SMALL[1], y, seed=5) == found(SMALL[1], y, seed=5)


def test_a_search_that_is_late_ends_without_an_error():
    y = target(2 * A * B + sp.sqrt(C))
    for shape in (SMALL[0], SMALL[4], LARGE[0]):
        found(shape, y, late=lambda: True)


def test_large_shapes_are_not_among_the_small_ones():
    assert not set(SMALL) & set(LARGE)
    assert len(set(SMALL + LARGE)) == len(SMALL + LARGE)
