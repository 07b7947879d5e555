"""Sums of monomials term by term: what explains most comes first."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.stepwise import listed, stepwise_formulas

A, B, C = SYMBOLS = tuple(sp.symbols("a b c", positive=True))
X = np.random.default_rng(0).uniform(1, 5, (120, 3))


def target(expression, x=X):
    return Formula(expression, SYMBOLS)(x)


def found(y, power=1, x=X):
    return list(stepwise_formulas(x, y, SYMBOLS, power))


@pytest.mark.parametrize(
    ("expression", "power"),
    [
        (5 * A * B**2 + sp.Rational(1, 2) / C, 1),
        (A**2 * B * C - 3 * A, 1),
        (sp.sqrt(A**2 * B**2 + 40 * C), 2),
        (1 / (A * B + 7 * C), -1),
        (1 / sp.sqrt(A**2 * B**2 + 40 * C), -2),
    ],
    ids=str,
)
def test_a_sum_of_listed_monomials_is_found_and_nothing_follows_it(expression, power):
    made = found(target(expression), power)
    np.testing.assert_allclose(target(made[-1]), target(expression), rtol=1e-8)
    assert len(made) <= 4


def test_each_formula_fits_better_than_the_one_before():
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2]
    errors = [np.mean((target(made) - y) ** 2) for made in found(y)]
    assert errors == sorted(errors, reverse=True)
    assert 2 <= len(errors) <= 7


def test_noise_does_not_hide_the_terms():
    y = target(5 * A * B + 2 / C)
    noisy = y + 0.01 * y.std() * np.random.default_rng(1).normal(size=120)
    assert any(made.has(A * B) for made in found(noisy)[:1])


def test_negative_targets_have_negative_roots():
    y = -target(sp.sqrt(A**2 * B**2 + 40 * C))
    np.testing.assert_allclose(target(found(y, 2)[-1]), y, rtol=1e-8)


def test_a_target_of_both_signs_is_no_power_of_a_sum():
    y = target(A - B)
    assert found(y, 2) == []
    assert found(y) != []


def test_columns_of_both_signs_are_used_without_roots():
    x = X - 3
    y = 2 * x[:, 0] * x[:, 1] - x[:, 2] ** 2
    made = list(stepwise_formulas(x, y, SYMBOLS, 1))
    np.testing.assert_allclose(target(made[-1], x), y, rtol=1e-8, atol=1e-9)


def test_a_column_with_zeros_is_not_divided_by():
    x = X.copy()
    x[3, 0] = 0.0
    for made in stepwise_formulas(x, x[:, 0] + 1 / x[:, 1], SYMBOLS, 1):
        assert np.isfinite(target(made, x)).all()


def test_the_list_has_every_monomial_once_and_the_constant_first():
    for inputs in (1, 2, 3):
        made = listed(inputs)
        assert not made[0].any()
        assert len(np.unique(made, axis=0)) == len(made)
        assert ((made != 0).sum(1) <= 3).all()


def test_the_list_stays_short_with_many_columns():
    assert len(listed(12)) < 2000
