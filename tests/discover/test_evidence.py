"""Columns that depend on each other are named, and roundings are told from noise."""

import numpy as np
import pytest
import torch

from nalm.discover.evidence import are_roundings, dependent_columns

X = np.random.default_rng(0).uniform(1, 5, (80, 4))
NAMES = ["a", "b", "c", "d"]


def told(x, used=None, precision=1e-9):
    return dependent_columns(x, NAMES[: x.shape[1]], precision, used)


def with_last(column):
    return np.column_stack([X[:, :3], column])


def test_nothing_is_said_of_independent_columns():
    assert told(X) == []
    assert told(X - 3) == []
    assert told(X[:, :1]) == []


@pytest.mark.parametrize(
    ("column", "listed"),
    [
        (X[:, 0], "a and d"),
        (3 - 2 * X[:, 1], "b and d"),
        (X[:, 0] + X[:, 2], "a, c and d"),
        (X[:, 0] - 0.5 * X[:, 1] + 7 * X[:, 2], "a, b, c and d"),
        (X[:, 0] + 1e-12 * X[:, 1], "a and d"),
    ],
    ids=["copy", "line", "sum", "weighted sum", "copy to 12 digits"],
)
def test_weighted_sums_are_named(column, listed):
    (sentence,) = told(with_last(column))
    assert sentence.startswith(f"Columns {listed} are tied by a weighted sum")


@pytest.mark.parametrize(
    ("column", "listed"),
    [(1 / X[:, 0], "a and d"), (X[:, 0] * X[:, 1], "a, b and d"), (np.sqrt(X[:, 2]) / X[:, 1], "b, c and d")],
    ids=["reciprocal", "product", "quotient with a root"],
)
def test_products_of_powers_are_named(column, listed):
    (sentence,) = told(with_last(column))
    assert sentence.startswith(f"Columns {listed} are tied by a product of powers")


@pytest.mark.parametrize(
    "column",
    [
        X[:, 0] * X[:, 1] + X[:, 2],
        X[:, 0] / (X[:, 1] + X[:, 2]),
    ],
    ids=["product and term", "quotient"],
)
def test_other_expressions_are_named(column):
    assert told(with_last(column)) != []


def test_only_columns_that_matter_are_named():
    x = with_last(X[:, 0] + X[:, 1])
    assert told(x, used=[2]) == []
    assert told(x, used=[1, 2]) != []
    assert told(with_last(X[:, 0] * X[:, 1]), used=[2]) == []


def test_columns_that_agree_less_than_to_the_precision_are_different():
    x = with_last(X[:, 0] * (1 + 1e-4 * np.random.default_rng(1).normal(size=80)))
    assert told(x) == []
    assert told(x, precision=1e-2) != []


def test_constant_columns_do_not_count():
    assert told(with_last(np.full(80, 2.0))) == []
    assert told(np.full((80, 2), 2.0)) == []


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_units_make_no_difference(size):
    assert told(with_last(size * X[:, 0])) != []
    assert told(with_last(size * X[:, 3])) == []


def test_columns_with_zeros_and_signs_are_handled():
    x = X - 3
    x[0, 1] = 0.0
    assert told(x) == []
    assert told(np.column_stack([x[:, :3], x[:, 0] + x[:, 1]])) != []


def roundings(n=200, seed=2):
    return torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) - 0.5


def test_small_residuals_around_zero_are_roundings():
    assert are_roundings(roundings())
    assert are_roundings(torch.zeros(5, dtype=torch.float64))


def test_large_residuals_are_no_roundings():
    assert not are_roundings(10 * roundings())


def test_residuals_that_are_not_zero_on_average_are_no_roundings():
    assert not are_roundings(roundings() + 0.3)
    assert are_roundings(roundings() + 0.3, bias=0.5)


def test_few_residuals_may_lie_on_one_side_by_chance():
    assert are_roundings(torch.tensor([0.2, 0.1, 0.3], dtype=torch.float64))


def test_no_residuals_are_no_roundings():
    assert not are_roundings(torch.empty(0, dtype=torch.float64))
