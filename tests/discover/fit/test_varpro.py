"""Variable projection finds the parameters of models that are linear in the rest."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from nalm.discover.fit.varpro import SOLVED, fit


@dataclass
class Exponentials:
    """target = b0 exp(-theta0 t) + b1 exp(-theta1 t) + b2."""

    t: np.ndarray

    def basis(self, theta):
        made = np.exp(-self.t[:, None] * theta[:, None])
        return np.concatenate([made, np.ones((*made.shape[:2], 1))], -1)

    def slopes(self, theta, beta):
        return -self.t[:, None] * np.exp(-self.t[:, None] * theta[:, None]) * beta[:, None, :2]


T = np.linspace(0, 4, 80)
RIGHT = np.array([[0.5, 2.0]])
TARGET = 3 * np.exp(-0.5 * T) - 1.5 * np.exp(-2 * T) + 0.25
STARTS = np.array([[0.1, 1.0], [1.0, 3.0], [0.4, 5.0]])


def test_parameters_and_coefficients_are_found_to_rounding():
    found = fit(Exponentials(T), TARGET, STARTS, 100)
    best = int(np.argmin(found.error))
    assert found.error[best] < SOLVED
    np.testing.assert_allclose(found.theta[best], RIGHT[0], rtol=1e-7)
    np.testing.assert_allclose(found.beta[best], [3, -1.5, 0.25], rtol=1e-6)


def test_a_start_at_the_solution_stays_there():
    found = fit(Exponentials(T), TARGET, RIGHT.copy(), 5)
    np.testing.assert_allclose(found.theta, RIGHT, rtol=1e-9)
    assert found.error[0] < SOLVED


def test_starts_do_not_influence_each_other():
    together = fit(Exponentials(T), TARGET, STARTS, 4)
    alone = [fit(Exponentials(T), TARGET, start[None], 4) for start in STARTS]
    np.testing.assert_allclose(together.theta, np.concatenate([f.theta for f in alone]), rtol=1e-9)


def test_more_steps_are_never_worse():
    errors = [fit(Exponentials(T), TARGET, STARTS, steps).error for steps in (0, 2, 5, 20)]
    for before, after in itertools.pairwise(errors):
        assert (after <= before + 1e-15).all()


def test_parameters_that_are_held_do_not_move():
    free = np.tile([False, True], (3, 1))
    found = fit(Exponentials(T), TARGET, STARTS, 20, free=free)
    np.testing.assert_array_equal(found.theta[:, 0], STARTS[:, 0])
    assert (found.theta[:, 1] != STARTS[:, 1]).any()


def test_rows_of_small_weight_hardly_count():
    wild, weights = TARGET.copy(), np.ones(80)
    wild[10], weights[10] = 1e3, 1e-9
    found = fit(Exponentials(T), wild, STARTS, 100, weights=weights)
    np.testing.assert_allclose(found.theta[np.argmin(found.error)], RIGHT[0], rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_errors_do_not_depend_on_the_units_of_the_target(scale):
    found = fit(Exponentials(T), scale * TARGET, STARTS, 3)
    np.testing.assert_allclose(found.error, fit(Exponentials(T), TARGET, STARTS, 3).error, rtol=1e-6)


def test_a_start_without_values_is_infinitely_bad_and_the_others_go_on():
    starts = np.array([[-1e4, 1.0], [0.4, 2.5]])
    found = fit(Exponentials(T), TARGET, starts, 100)
    assert found.error[0] == np.inf
    assert found.error[1] < SOLVED


def test_it_ends_at_once_when_time_is_over():
    found = fit(Exponentials(T), TARGET, STARTS, 50, late=lambda: True)
    np.testing.assert_array_equal(found.theta, STARTS)
    assert np.isfinite(found.error).all()
