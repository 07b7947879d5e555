"""Formulas that a small term makes look alike are not called exact."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.found import find_formula
from nalm.discover.fit.lookalikes import lookalikes

A, B = SYMBOLS = sp.symbols("a b", positive=True)
X = np.random.default_rng(0).uniform(1, 3, (150, 2))


def verdict(x, y):
    found = find_formula(x, y, ["a", "b"], 0, 20.0)
    return found.judged.verdict, " ".join(found.notes)


def test_each_is_about_the_same_on_the_rows():
    formula = Formula(A * (1 + B / 1000), SYMBOLS)
    others = list(lookalikes(formula, X))
    assert len(others) == 2
    for other in others:
        np.testing.assert_allclose(other(X), formula(X), rtol=1e-5)
        assert np.abs(other(X) / formula(X) - 1).max() > 1e-7


@pytest.mark.parametrize("expression", [A * B, A + B, sp.sqrt(A**2 + B**2), A / (B + 2)], ids=str)
def test_there_are_none_where_no_term_is_small(expression):
    assert not list(lookalikes(Formula(expression, SYMBOLS), X))


@pytest.mark.parametrize(
    "law",
    [
        lambda a, b: a * np.cos(1e-5 * b),
        lambda a, b: np.sqrt(1e9 + a * b),
        lambda a, b: a * (1 + 1e-8 * b),
        lambda a, b: a * np.exp(1e-9 * b),
        lambda a, b: np.round(1.7e9 + a / b, 2),
    ],
    ids=["cosine", "root", "expansion", "exponential", "large offset"],
)
def test_a_term_below_the_precision_of_its_square_leaves_doubt(law):
    assert verdict(X, law(*X.T))[0] == "approximate"


def test_single_precision_leaves_doubt_earlier():
    x = np.column_stack([X[:, 0], 15 * X[:, 1]]).astype(np.float32)
    said, notes = verdict(
        x.astype(float), (x[:, 0] * (1 + 1.2e-5 * x[:, 1])).astype(np.float32).astype(float)
    )
    assert said == "approximate"
    assert "fits the rows as well: they cannot tell which of the two is the law." in notes


@pytest.mark.parametrize(
    "law",
    [
        lambda a, b: a / (1 + 0.001 * b),
        lambda a, b: a + 1e-4 * b**2,
        lambda a, b: b * np.sqrt(1 - 0.01 * a**2),
        lambda a, b: a * b + 100,
    ],
    ids=["quotient", "small square", "root", "offset"],
)
def test_a_small_term_that_the_rows_can_tell_is_exact(law):
    assert verdict(X, law(*X.T))[0] == "exact"
