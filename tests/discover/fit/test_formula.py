"""A formula is computed as sympy computes it, and its constants are found again from data."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula, length

A, B, C = SYMBOLS = tuple(sp.Symbol(name, real=True) for name in "abc")


def number(value):
    return sp.Float(value, 15)


EXPRESSIONS = [
    A * B**2 / 2,
    number(1.5) * A + number(-0.25),
    sp.sqrt(A**2 + number(3.7) * B),
    A * B / (A + number(2.5) * C),
    (A - B) ** 3 / sp.sqrt(C),
    number(4.2) / (C**2 + number(0.5)) ** 2,
    sp.pi * A - sp.sqrt(2) * B,
    number(3.25),
    C,
]


def rows(n=40, seed=0):
    return np.random.default_rng(seed).uniform(1, 4, (n, 3))


def of(expression):
    return Formula(expression, SYMBOLS)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_its_values_are_those_of_sympy(expression):
    x = rows()
    expected = [float(expression.subs(dict(zip(SYMBOLS, row))).evalf(30)) for row in x.tolist()]
    np.testing.assert_allclose(of(expression)(x), expected, rtol=1e-14)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_its_slopes_are_differences_of_its_values(expression):
    x, formula, step = rows(), of(expression), 1e-5
    for k in range(3):
        higher, lower = x.copy(), x.copy()
        higher[:, k] += step
        lower[:, k] -= step
        expected = (formula(higher) - formula(lower)) / (2 * step)
        np.testing.assert_allclose(formula.slopes(x)[:, k], expected, rtol=1e-6, atol=1e-8)


def test_decimals_are_its_constants_and_other_numbers_are_not():
    assert of(number(2.5) * A + 3 * B + sp.pi).constants == (2.5,)
    assert set(of(number(2.5) * A / (B + number(0.5))).constants) == {2.5, 0.5}
    assert of(A**2 / 3).constants == ()


def test_constants_are_replaced_in_their_order():
    formula = of(number(2.5) * A + number(0.5) * B)
    doubled = formula.with_constants([2 * c for c in formula.constants])
    assert doubled.constants == tuple(2 * c for c in formula.constants)
    np.testing.assert_allclose(doubled(rows()), 2 * formula(rows()), rtol=1e-15)


def test_a_constant_that_becomes_a_number_of_sympy_is_no_longer_fitted():
    formula = of(number(3.14) * A).with_constants([sp.pi])
    assert formula.expression == sp.pi * A
    assert formula.constants == ()


def test_columns_that_occur_are_used():
    assert of(A / C).used == (0, 2)
    assert of(sp.Integer(2)).used == ()


def test_its_length_counts_operations_numbers_and_names():
    assert length(A) == 1
    assert length(A + B) == 3
    assert length(A * B**2) == 5
    assert of(A + B).length < of(A + B + C).length < of(sp.sqrt(A + B + C)).length


@pytest.mark.parametrize(
    ("expression", "start"),
    [
        (number(2.5) * A + number(-0.75) * B, (1, 1)),
        (A * B / (number(3.2) + C), (1,)),
        (sp.sqrt(A**2 + number(0.3) * B), (1,)),
        (number(7.0) / (1 + number(0.2) * A) + number(2.0), (1, 1, 1)),
    ],
    ids=str,
)
def test_its_constants_are_found_again_to_rounding(expression, start):
    x, right = rows(), of(expression)
    wrong = right.with_constants([1.3 * c for c in right.constants])
    found, deviations = wrong.fitted(x, right(x), steps=40)
    np.testing.assert_allclose(found.constants, right.constants, rtol=1e-10)
    assert len(deviations) == len(start)
    assert (deviations < 1e-9).all()


def test_the_deviations_of_constants_say_how_far_off_they_are():
    right, misses = of(number(2.0) * A + number(0.5) * B * C), []
    for seed in range(60):
        x = rows(80, seed)
        y = right(x) + 0.1 * np.random.default_rng(1000 + seed).normal(size=80)
        found, deviations = right.fitted(x, y)
        misses.append((np.array(found.constants) - right.constants) / deviations)
    assert 0.8 < np.std(misses) < 1.25


def test_a_fit_never_makes_it_worse():
    x = rows(30, 3)
    y = np.random.default_rng(4).normal(size=30)
    for expression in EXPRESSIONS:
        formula = of(expression)
        after = formula.fitted(x, y)[0](x)
        assert np.mean((after - y) ** 2) <= np.mean((formula(x) - y) ** 2) * (1 + 1e-12)


def test_constants_that_cannot_be_told_apart_are_uncertain():
    x = rows()
    x[:, 1] = x[:, 0]
    _, deviations = of(number(1.0) * A + number(2.0) * B).fitted(x, 3 * x[:, 0] + 1e-3 * np.sin(x[:, 2]))
    assert (deviations > 1e3).all()


def test_rows_where_it_has_no_value_are_nan_without_a_warning(recwarn):
    values = of(sp.sqrt(A) + 1 / (B - 1))(np.array([[-1.0, 2.0, 0.0], [4.0, 3.0, 0.0]]))
    assert np.isnan(values[0])
    assert values[1] == 2.5
    assert not recwarn.list


def test_a_fit_that_overflows_is_silent(recwarn):
    x = 1e150 * rows()
    of(number(1.0) * A**2 + number(1.0) * B).fitted(x, x[:, 0])
    assert [str(w.message) for w in recwarn.list] == []


def test_columns_may_be_called_like_its_own_constants():
    names = tuple(sp.Symbol(name, real=True) for name in ("constant_0", "constant_1"))
    formula = Formula(number(2.5) * names[0] + number(0.5) * names[1], names)
    np.testing.assert_allclose(formula(np.array([[1.0, 2.0], [3.0, 4.0]])), [3.5, 9.5])


def test_it_is_the_same_after_pickling_and_copying():
    formula = of(number(2.5) * A / (B + number(0.1)))
    formula(rows())
    for again in (pickle.loads(pickle.dumps(formula)), copy.deepcopy(formula)):
        assert again == formula
        np.testing.assert_array_equal(again(rows()), formula(rows()))
