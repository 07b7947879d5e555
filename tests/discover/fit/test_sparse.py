"""Relations of few terms are named behind noise."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.sparse import LINEAR, OTHERS, sparse_relations

A, B, C = SYMBOLS = tuple(sp.symbols("a b c", positive=True))
X = np.random.default_rng(0).uniform(1, 5, (150, 3))
NOISE = np.random.default_rng(1).normal(size=150)


def target(expression, x=X):
    return Formula(expression, SYMBOLS)(x)


def found(y, kinds=OTHERS, x=X, **options):
    return list(sparse_relations(x, y, SYMBOLS, kinds, **options))


def terms(expression):
    return {term.as_coeff_Mul()[1] for term in sp.Add.make_args(sp.expand(expression))}


def test_a_linear_formula_is_found_behind_noise():
    y = target(2 * A - C + 3) + 0.05 * NOISE
    assert {A, C, sp.Integer(1)} in [terms(made) for made in found(y, LINEAR)]


def test_the_terms_of_a_polynomial_are_found_behind_noise():
    y = target(A * B + 2 * C**2)
    made = found(y + 0.02 * y.std() * NOISE, OTHERS[:2])
    assert {A * B, C**2} in [terms(expression) for expression in made]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (A * B / (A + B), (2, 1)),
        (sp.sqrt(A**2 + 3 * B), (2, None)),
        ((A + 2) / (B + C), (2, 1)),
        (-sp.sqrt(A * B + C), (2, None)),
    ],
    ids=str,
)
def test_a_formula_without_noise_is_met(expression, kind):
    y = target(expression)
    errors = []
    for made in found(y, (kind,)):
        formula, _ = Formula(made, SYMBOLS).fitted(X, y)
        errors.append(np.abs(formula(X) - y).max())
    assert np.nanmin(errors) < 1e-8


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_of_the_target_make_no_difference(scale):
    y = target(A * B + 2 * C**2)
    for made in found(scale * y, ((2, None),)):
        if terms(made) == {A * B, C**2}:
            np.testing.assert_allclose(target(made), scale * y, rtol=1e-9)
            return
    pytest.fail("not found")


def test_formulas_have_few_terms():
    for made in found(np.sin(X[:, 0]) * X[:, 1], OTHERS[:3]):
        above, below = sp.fraction(made**2 if made.has(sp.Rational(1, 2)) else made)
        assert len(sp.Add.make_args(above)) + len(sp.Add.make_args(below)) <= 10


def test_few_rows_give_only_formulas_of_fewer_terms():
    x = X[:8]
    made = list(sparse_relations(x, target(A + B, x), SYMBOLS, OTHERS))
    assert all(len(terms(expression)) <= 3 for expression in made)


def test_nothing_is_tried_when_time_is_over():
    assert found(target(A + B), late=lambda: True) == []
