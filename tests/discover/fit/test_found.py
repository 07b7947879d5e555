"""From a table to a formula with its verdict: families of formulas, and targets that are none."""

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.found import find_formula

NAMES = ["a", "b", "c", "d", "e", "f"]
A, B, C, D, E, F = SYMBOLS = tuple(sp.Symbol(name, real=True) for name in NAMES)
FAMILIES = {
    "monomial": A * B**2 / (2 * C),
    "monomial with roots": sp.pi * A * sp.sqrt(B / C),
    "linear": 3 * A - 2 * B + sp.Rational(1, 4),
    "sum of products": A * B + 3 * C**2 - 2,
    "three terms": A * B + C**2 / D + 5 * E / 2,
    "rational": A * B / (A + B),
    "rational with two sums": (A + 2 * B) / (1 + C * D),
    "root of a sum": sp.sqrt(A**2 + B**2),
    "distance": sp.sqrt((A - B) ** 2 + (C - D) ** 2),
    "root beside a term": A + sp.sqrt(B**2 + 4 * A * C),
    "root below": A / sp.sqrt(1 + B**2 / C),
    "real constants": sp.Float(1.2345, 15) * A / (sp.Float(0.678, 15) + B),
}


def table(rows=120, low=1.0, high=5.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (rows, len(NAMES)))


def values(expression, x):
    return np.asarray(sp.lambdify(SYMBOLS, expression)(*x.T) + np.zeros(len(x)))


def found(x, y, seconds=60.0, names=NAMES):
    return find_formula(x, y, names[: x.shape[1]], 0, seconds)


def same(made, expected):
    """Whether two formulas are the same: equal far outside the rows too."""
    x = table(50, 7.0, 50.0, seed=99)
    return np.allclose(values(made, x), values(expected, x), rtol=1e-7, atol=0)


@pytest.mark.parametrize("expression", FAMILIES.values(), ids=FAMILIES)
def test_a_formula_is_found_among_redundant_columns_and_is_exact(expression):
    x = table()
    got = found(x, values(expression, x))
    assert same(got.formula.expression, expression), got.formula.expression
    assert got.judged.verdict == "exact", got.notes


@pytest.mark.parametrize("rows", [60, 200])
def test_sixty_rows_are_enough(rows):
    x = table(rows, seed=rows)
    got = found(x, values(FAMILIES["rational"], x))
    assert got.formula.expression == FAMILIES["rational"]
    assert got.judged.verdict == "exact"


@pytest.mark.parametrize("family", ["monomial", "linear", "root of a sum"])
def test_noise_of_one_per_cent_leaves_the_formula_and_makes_it_approximate(family):
    x = table()
    y = values(FAMILIES[family], x)
    got = found(x, y * (1 + 0.01 * np.random.default_rng(1).normal(size=len(y))))
    assert got.judged.verdict == "approximate"
    assert got.judged.error < 0.02 * np.abs(y).mean()
    assert got.formula.expression.free_symbols == FAMILIES[family].free_symbols
    np.testing.assert_allclose(got.formula(x), y, rtol=0.03, atol=0.03 * np.abs(y).mean())


@pytest.mark.parametrize(
    "expression",
    [A * B**2, A * B - C**2, A * B / (C**2 + 1), sp.sqrt(A**2 + B**2 + 1), A * sp.sqrt(B**2 + C**2)],
    ids=str,
)
def test_columns_may_change_their_sign(expression):
    x = table(low=-3.0, high=3.0)
    got = found(x, values(expression, x))
    assert same(got.formula.expression, expression), got.formula.expression
    assert got.judged.verdict == "exact"


def test_columns_and_targets_may_be_negative():
    x = -table()
    got = found(x, values(A * B / (C + D), x))
    assert same(got.formula.expression, A * B / (C + D))
    assert got.judged.verdict == "exact"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sin(x[:, 0]) * x[:, 1],
        lambda x: np.exp(x[:, 0]),
        lambda x: np.abs(x[:, 0] - 3),
        lambda x: np.abs(x[:, 0] - x[:, 1]) * x[:, 2],
        lambda x: np.mod(3 * x[:, 0], 1) + x[:, 1],
        lambda x: np.log(x[:, 0]),
        lambda x: np.maximum(x[:, 0], x[:, 1]),
        lambda x: np.round(x[:, 0] * x[:, 1]),
    ],
    ids=["sine", "exponential", "absolute value", "distance", "modulo", "logarithm", "maximum", "rounded"],
)
def test_what_is_no_formula_is_never_exact(function):
    x = table()[:, :3]
    assert found(x, function(x), 1.5).judged.verdict != "exact"


@pytest.mark.parametrize(
    ("function", "around"), [(np.log, 1000.0), (np.sin, 1.0), (np.exp, 1.0), (np.cbrt, 50.0)], ids=str
)
def test_a_smooth_function_over_a_narrow_range_is_never_exact(function, around):
    x = around * (1 + 1e-5 * table()[:, :3])
    got = found(x, function(x[:, 0]), 1.0)
    assert got.judged.verdict != "exact", got.formula.expression


@pytest.mark.parametrize("seed", range(3))
def test_random_numbers_are_none(seed):
    generator = np.random.default_rng(seed)
    assert found(generator.normal(size=(60, 4)), generator.normal(size=60), 1.0).judged.verdict == "none"


@pytest.mark.parametrize("rows", [4, 5, 6, 8])
def test_few_rows_of_random_whole_numbers_are_never_exact(rows):
    for seed in range(4):
        generator = np.random.default_rng(100 * rows + seed)
        x = generator.integers(1, 10, (rows, 3)).astype(float)
        got = found(x, generator.integers(1, 10, rows).astype(float), 0.5)
        assert got.judged.verdict != "exact", got.formula.expression


@pytest.mark.parametrize(
    ("row", "shift", "expression", "seed"),
    [
        (17, 50.0, A * B**2, 0),
        (17, 50.0, A / (B + C), 0),
        (3, -400.0, A * B**2, 3),
        (60, 1e6, A * B**2, 3),
    ],
    ids=str,
)
def test_a_row_that_is_wrong_is_named_and_does_not_change_the_formula(row, shift, expression, seed):
    x = table(seed=seed)[:, :5]
    y = values(expression, np.column_stack([x, x[:, 0]]))
    y[row] += shift
    got = found(x, y)
    assert got.formula.expression == expression
    assert got.judged.verdict == "approximate"
    assert any(f"the other row is {row}." in note for note in got.notes)


@pytest.mark.parametrize(("value", "shown"), [(4.0, "4"), (np.pi, "pi"), (0.0, "0"), (-2.5, "-5/2")])
def test_a_constant_target_is_a_number(value, shown):
    got = found(table(60), np.full(60, value), 5.0)
    assert str(got.formula.expression) == shown
    np.testing.assert_allclose(got.formula(table(5)), value, rtol=1e-14)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_targets_and_columns_may_be_of_any_size(size):
    x = table()
    got = found(x, size * values(A * B / (C + D), x))
    assert got.judged.verdict == "exact"
    assert got.formula.expression.free_symbols == {A, B, C, D}
    got = found(x * size, values(A * B / (C + D), x))
    assert got.judged.verdict == "exact"
    np.testing.assert_allclose(got.formula(x * size), values(A * B / (C + D), x), rtol=1e-12)


def test_float32_data_are_exact_to_their_precision():
    x = table().astype(np.float32)
    got = found(x.astype(np.float64), (x[:, 0] * x[:, 1] / x[:, 2]).astype(np.float64))
    assert got.formula.expression == A * B / C
    assert got.judged.verdict == "exact"


def test_alternatives_are_longer_the_more_precise_they_are():
    x = table()
    listed = found(x, values(FAMILIES["sum of products"], x)).alternatives
    errors, lengths = [each.error for each in listed], [each.length for each in listed]
    assert errors == sorted(errors, reverse=True)
    assert lengths == sorted(lengths)
    assert same(listed[-1].expression, FAMILIES["sum of products"])


def test_progress_is_told_with_falling_errors():
    x, told = table(), []
    find_formula(x, values(FAMILIES["rational"], x), NAMES, 0, 15.0, told.append)
    assert told[-1].error < 1e-12
    assert told[-1].expression is not None
    assert all(each.stage for each in told)
    seconds = [each.seconds for each in told]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize(
    "column",
    [lambda a, b: np.sqrt(a**2 + b**2), lambda a, b: 1 / (1 / a + 1 / b)],
    ids=["root of squares", "reciprocals"],
)
def test_a_column_that_others_give_by_a_formula_is_not_exact(column):
    a, b, c = np.random.default_rng(0).uniform(1, 3, (3, 100))
    given = column(a, b)
    got = find_formula(np.column_stack([a, b, c, given]), given * c, ["a", "b", "c", "g"], 0, 10)
    assert got.judged.verdict == "approximate"
    assert got.notes[0].startswith("Column g is given by the others")


def test_a_search_that_time_cuts_off_says_so():
    x = table(200)
    noise = np.random.default_rng(1).normal(size=200)
    y = np.sin(x[:, 0]) * x[:, 1] + np.exp(-x[:, 2]) + 0.01 * noise
    assert any("Time was over" in note for note in found(x, y, seconds=0.5).notes)


def test_a_search_that_ends_by_itself_says_nothing_of_time():
    x = table()
    assert not any("Time was over" in note for note in found(x, x[:, 0] * x[:, 1]).notes)
