"""Numbers that a formula has twice."""

import pytest
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.scales import without_idle_scales

A, B = SYMBOLS = sp.symbols("a b", positive=True)
POINT = {A: 1.7, B: 0.6}


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        (1.5 * sp.sqrt(0.4 * A + 0.3 * B), 2),
        (A - 2.0 * B / (3.0 * A - 1.5 * B) ** 2, 2),
        (2.0 * sp.sqrt(0.5 * A + 0.5 * B) / (0.25 * A + 3.0), 2),
    ],
    ids=str,
)
def test_the_size_of_a_sum_goes_into_the_factor_beside_it(expression, numbers):
    made = without_idle_scales(expression)
    assert len(Formula(made, SYMBOLS).constants) == numbers
    assert float(made.subs(POINT)) == pytest.approx(float(expression.subs(POINT)), rel=1e-14)


@pytest.mark.parametrize(
    "expression",
    [
        sp.sqrt(0.4 * A + 0.3 * B),  # nothing beside it
        1.3 * B * sp.sqrt(A + 0.2 * B),  # its size is fixed
        2.0 * sp.sqrt(A + B),
        0.5 * A * B,
        A,
    ],
    ids=str,
)
def test_numbers_that_are_needed_stay(expression):
    assert without_idle_scales(expression) == expression


def test_equal_coefficients_become_equal_whole_numbers():
    assert without_idle_scales(3.0 * sp.sqrt(0.25 * A + 0.25 * B)) == 1.5 * sp.sqrt(A + B)
