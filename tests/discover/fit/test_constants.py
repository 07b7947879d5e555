"""Simple numbers are taken for fitted ones only where the rows support them."""

import math

import numpy as np
import pytest
import sympy as sp

from nalm.discover.fit.constants import as_decimals, simple

ROUNDING = 1e-15
X = sp.Symbol("x", positive=True)


@pytest.mark.parametrize(
    "number",
    [
        sp.Integer(1),
        sp.Integer(-3),
        sp.Rational(1, 2),
        sp.Rational(-2, 3),
        sp.Rational(1, 72),
        sp.Rational(981, 100),
        sp.Rational("1.2345"),
        sp.pi,
        4 * sp.pi / 3,
        1 / (4 * sp.pi),
        sp.pi**2 / 6,
        sp.sqrt(2),
        -sp.sqrt(3) / 2,
        1 / sp.sqrt(sp.pi),
        sp.Integer(10) ** 30,
        sp.Rational(6674, 10**14),
    ],
    ids=str,
)
def test_a_number_that_is_known_to_rounding_is_named(number):
    value = float(number)
    found = simple(value, ROUNDING * abs(value))
    assert found is not None
    assert sp.simplify(found.number - number) == 0


def test_of_numbers_within_the_uncertainty_the_simplest_is_taken():
    assert simple(2.0000003, 1e-6).number == 2
    assert simple(3.1415930, 1e-6).number == sp.pi
    assert simple(0.3333331, 1e-6).number == sp.Rational(1, 3)


def test_a_number_that_is_further_away_than_its_uncertainty_is_not_taken():
    assert simple(2.001, 1e-9).number != 2
    assert simple(math.pi + 1e-6, 1e-9) is None or simple(math.pi + 1e-6, 1e-9).number != sp.pi


def test_no_simple_number_is_seen_in_one_that_is_hardly_known():
    assert simple(2.03, 0.5) is None
    assert simple(0.7, 0.7) is None


def test_random_numbers_are_hardly_ever_simple():
    values = np.random.default_rng(0).uniform(0.5, 20, 120)
    for uncertainty in (1e-3, 1e-6, 1e-9):
        named = [v for v in values if simple(v, uncertainty) is not None]
        assert len(named) <= 8, f"{len(named)} of 120 at {uncertainty}"


@pytest.mark.parametrize("pair", [(math.nan, 1.0), (math.inf, 1.0), (1.0, math.inf), (1.0, math.nan)])
def test_what_is_no_number_is_not_simple(pair):
    assert simple(*pair) is None


def test_simple_numbers_cost_fewer_bits_than_long_ones():
    costs = [simple(v, ROUNDING * v).bits for v in (2.0, 0.5, 4 * math.pi / 3, 1.2345, 1.234567)]
    assert costs == sorted(costs)


def test_the_sign_does_not_change_what_a_number_is():
    for value in (2.0, 0.75, math.pi, 1.2345):
        assert simple(-value, 1e-14).number == -simple(value, 1e-14).number


def test_fractions_of_tens_are_shown_as_decimals_and_others_stay():
    assert str(as_decimals(sp.Rational(981, 100) * X)) in ("9.81*x", "9.81000000000000*x")
    assert as_decimals(X / 2) == X / 2
    assert as_decimals(X / 72) == X / 72
    assert as_decimals(sp.Rational(1, 10) * X) == X / 10


def test_exponents_are_never_made_decimals():
    powers = X ** sp.Rational(1, 2) + X ** sp.Rational(-7, 20)
    assert as_decimals(powers) == powers


def test_decimals_have_the_value_of_the_fraction():
    for number in (sp.Rational(981, 100), sp.Rational("1.23456789"), sp.Rational(1, 1000)):
        assert float(as_decimals(number)) == float(number)
