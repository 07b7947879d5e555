"""The models of powers: what they compute, and their slopes against finite differences."""

import numpy as np
import pytest

from nalm.discover.fit.power_models import Inputs, ProductOfSums, SumOfProducts

STARTS, ROWS, INPUTS = 3, 12, 2


def table(low=0.5, high=3.0):
    return np.random.default_rng(0).uniform(low, high, (ROWS, INPUTS))


def odd(terms, seed=1):
    return np.random.default_rng(seed).random((STARTS, terms, INPUTS)) < 0.5


def product(x, sums):
    return ProductOfSums(Inputs.of(x), sums, odd(sum(sums)))


def sum_of(x, outer, inner):
    power = np.array([-1.0, 0.5, 2.0])
    return SumOfProducts(Inputs.of(x), outer, inner, power, odd(len(outer) + inner))


MODELS = {
    "one sum": (product, ((1,),)),
    "sums of two and one": (product, ((2, 1),)),
    "two terms": (sum_of, ((False, False), 0)),
    "a term with a sum": (sum_of, ((True,), 1)),
    "a term with a sum beside another": (sum_of, ((True, False), 2)),
    "two terms with the same sum": (sum_of, ((True, True), 1)),
}
TABLES = {"positive": table(), "of both signs": table(-3.0, 3.0)}


def parameters(model, seed=2):
    generator = np.random.default_rng(seed)
    kinds = model.is_exponent()
    coefficients = generator.uniform(0.01, 0.05, (STARTS, len(kinds)))  # sums stay above zero
    return np.where(kinds, generator.uniform(-1, 1, (STARTS, len(kinds))), coefficients)


@pytest.mark.parametrize("x", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(("make", "of"), MODELS.values(), ids=MODELS)
def test_slopes_are_differences_of_values(make, of, x):
    model = make(x, *of)
    theta = parameters(model)
    basis = model.basis(theta)
    beta = np.random.default_rng(3).uniform(0.5, 2, (STARTS, basis.shape[-1]))

    def values(at):
        return np.einsum("bnt,bt->bn", model.basis(at), beta)

    found, step = model.slopes(theta, beta), 1e-6
    assert found.shape == (STARTS, ROWS, theta.shape[1])
    for k in range(theta.shape[1]):
        move = step * np.eye(theta.shape[1])[k]
        expected = (values(theta + move) - values(theta - move)) / (2 * step)
        np.testing.assert_allclose(found[..., k], expected, rtol=1e-5, atol=1e-6)


def test_a_product_of_sums_is_what_its_name_says():
    x = table()
    model = product(x, (1,))
    inputs = model.inputs
    theta = np.tile([0.7, 1.0, -2.0], (STARTS, 1))
    beta = np.tile([0.2, 0.5, -1.0, 1.5], (STARTS, 1))
    scaled = x / np.exp(inputs.means)
    inner = 1 + 0.7 * scaled[:, 0] / scaled[:, 1] ** 2
    expected = np.exp(0.2) * np.sqrt(scaled[:, 0]) / scaled[:, 1] * inner**1.5
    got = np.exp(np.einsum("bnt,bt->bn", model.basis(theta), beta))
    np.testing.assert_allclose(got, np.tile(expected, (STARTS, 1)), rtol=1e-12)


def test_a_sum_of_products_is_what_its_name_says():
    x = table()
    model = sum_of(x, (True, False), 1)
    scaled = x / np.exp(model.inputs.means)
    theta = np.tile([1.0, 0.0, 0.0, 2.0, 0.5, 1.0, 1.0], (STARTS, 1))
    beta = np.tile([3.0, -2.0, 0.25], (STARTS, 1))
    inner = 1 + 0.5 * scaled[:, 0] * scaled[:, 1]
    got = np.einsum("bnt,bt->bn", model.basis(theta), beta)
    for power, row in zip(model.power, got):
        expected = 3 * scaled[:, 0] * inner**power - 2 * scaled[:, 1] ** 2 + 0.25
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_powers_of_a_column_of_both_signs_are_odd_or_even_functions():
    x = np.array([[-2.0], [2.0], [-0.5], [0.5]])
    inputs = Inputs.of(x)
    exponents = np.ones((2, 1, 1))
    even, uneven = inputs.monomials(exponents, np.array([False, True]).reshape(2, 1, 1))[..., 0]
    np.testing.assert_allclose(even[::2], even[1::2])
    np.testing.assert_allclose(uneven[::2], -uneven[1::2])


def test_logarithms_of_zeros_are_finite():
    assert np.isfinite(Inputs.of(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])).logs).all()


def test_a_root_of_a_negative_sum_has_no_value():
    x = table()
    model = sum_of(x, (True,), 1)
    theta = np.tile([0.0, 0.0, -1e6, 0.0, 0.0], (STARTS, 1))
    made = model.basis(theta)[..., 0]
    assert np.isnan(made[1]).all()  # the power 1/2
    assert np.isfinite(made[[0, 2]]).all()  # the powers -1 and 2
