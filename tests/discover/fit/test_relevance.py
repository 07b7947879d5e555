"""Which columns matter, which of them are factors, and what is noise."""

import numpy as np
import pytest

from nalm.discover.fit.relevance import is_noise, relevance

X = np.random.default_rng(0).uniform(1, 5, (150, 6))
NOISE = np.random.default_rng(1).normal(size=150)


def told(y, x=X):
    return relevance(x, y)


@pytest.mark.parametrize(
    ("y", "columns"),
    [
        (X[:, 1] * X[:, 4] ** 2, {1, 4}),
        (X[:, 0] + X[:, 3] * X[:, 5], {0, 3, 5}),
        (np.sqrt(X[:, 2] ** 2 + X[:, 3] ** 2), {2, 3}),
        (X[:, 0] / (X[:, 1] + X[:, 2]), {0, 1, 2}),
        (np.sin(X[:, 5]), {5}),
    ],
    ids=["product", "sum", "root", "rational", "sine"],
)
def test_columns_that_matter_are_told_from_those_that_do_not(y, columns):
    assert set(told(y).columns(0.02)) == columns
    assert set(told(y).order[: len(columns)]) == columns


def test_all_columns_are_in_the_order_once():
    assert sorted(told(X[:, 0] + X[:, 1]).order) == list(range(6))


def test_the_steepest_column_comes_first():
    found = told(10 * X[:, 2] + X[:, 0])
    assert found.order[:2] == (2, 0)
    assert found.rise[2] == 1
    assert 0.05 < found.rise[0] < 0.2


def test_noise_is_measured():
    y = X[:, 0] * X[:, 1]
    assert told(y).noise < 0.01
    assert 0.05 < told(y + 0.1 * y.std() * NOISE).noise < 0.2


def test_relevance_survives_noise():
    y = X[:, 0] * X[:, 1] / X[:, 2]
    assert set(told(y + 0.05 * y.std() * NOISE).order[:3]) == {0, 1, 2}


def test_factors_that_are_powers_are_named_with_their_exponents():
    found = told(X[:, 0] ** 2 * (X[:, 1] + X[:, 2]) / np.sqrt(X[:, 3]))
    np.testing.assert_array_equal(found.exponents[[0, 3]], [2, -0.5])
    assert np.isnan(found.exponents[[1, 2]]).all()


def test_columns_that_do_not_matter_are_no_factors():
    assert np.isnan(told(X[:, 0] * X[:, 1]).exponents[2:]).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_make_no_difference(scale):
    y = X[:, 1] + X[:, 4] ** 2
    assert told(scale * y).columns(0.02) == told(y).columns(0.02)
    assert told(y, scale * X).columns(0.02) == told(y).columns(0.02)


def test_columns_may_change_their_sign():
    x = X - 3
    assert set(relevance(x, x[:, 0] * x[:, 1] - x[:, 2]).columns(0.02)) == {0, 1, 2}


def test_noise_is_noise():
    noise = [np.random.default_rng(10 + seed).normal(size=150) for seed in range(4)]
    assert sum(is_noise(X, left) for left in noise) >= 3


@pytest.mark.parametrize(
    "left",
    [X[:, 0], np.sin(X[:, 1]), X[:, 0] * X[:, 1] - 9, (X[:, 2] - 3) ** 2, 0.5 * X[:, 3] + NOISE],
    ids=["line", "sine", "product", "parabola", "line behind noise"],
)
def test_what_depends_on_the_inputs_is_no_noise(left):
    assert not is_noise(X, left)


def test_a_few_wild_rows_do_not_hide_a_dependence():
    left = X[:, 0] - 3
    left[7] = 1e6
    assert not is_noise(X, left)


def test_residuals_that_are_all_zero_leave_nothing():
    assert is_noise(X, np.zeros(150))
