"""Differential equations from a trajectory: exact without noise, near with it, wrong input refused."""

import numpy as np
import pytest
import torch

import nalm
from nalm.discover.power_laws import PowerLaws
from nalm.discover.trajectory import Trajectory
from nalm.errors import ArgumentError
from nalm.tasks import Epidemic

SIR = PowerLaws(
    np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
    np.array([[-0.5, 0.0], [0.5, -0.1], [0.0, 0.1]]),
)


def test_a_decay_is_found_exactly():
    t = np.linspace(0, 8, 33)
    found = nalm.find_dynamics(t, 3 * np.exp(-0.5 * t)[:, None], names=["N"], terms=2, starts=2)
    assert str(found) == "dN/dt = -0.5*N"


@pytest.mark.parametrize(("noise", "within"), [(0, 1e-3), (1, 1e-2)])
def test_both_terms_of_an_epidemic_are_found_and_nothing_else(noise, within):
    found = nalm.find_dynamics(*Epidemic("sir", noise).observed(0), names="SIR", terms=2, starts=4)
    order = np.argsort(-found.laws.exponents[:, 0])
    np.testing.assert_array_equal(found.laws.exponents[order], SIR.exponents)
    np.testing.assert_allclose(found.laws.factors[:, order], SIR.factors, rtol=within)
    assert found.laws.size == 7


def test_no_equations_on_the_front_beat_others_in_size_and_error():
    found = nalm.find_dynamics(*Epidemic("sir", 5).observed(1), terms=1, starts=2)
    sizes, errors = [each.size for each in found.front], [each.error for each in found.front]
    assert sizes == sorted(sizes, reverse=True)
    assert errors == sorted(errors)


def test_the_stack_of_units_computes_the_equations():
    x = np.random.default_rng(0).uniform(0.1, 1, (5, 3))
    computed = SIR.stack()(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(computed, SIR.rates(x), rtol=1e-12)
    assert SIR.equations("SIR") == [
        "dS/dt = -0.5*I*S",
        "dI/dt = 0.5*I*S - 0.1*I",
        "dR/dt = 0.1*I",
    ]


def test_a_vector_holds_all_parameters_and_terms_can_be_added():
    again = PowerLaws.of(SIR.vector, 3)
    np.testing.assert_array_equal(again.exponents, SIR.exponents)
    wider = SIR.padded(4)
    assert (wider.size, wider.exponents.shape) == (SIR.size, (4, 3))


def test_derivatives_through_the_solver_are_those_of_larger_differences():
    trajectory = Trajectory(*Epidemic("sir").observed(0))
    free = np.ones(12, dtype=bool)
    jacobian = trajectory.jacobian(SIR.vector, free)
    move = 1e-4 * np.eye(12)[9]  # the factor of S I in dI/dt
    slope = (trajectory.residuals(SIR.vector + move) - trajectory.residuals(SIR.vector - move)) / 2e-4
    np.testing.assert_allclose(jacobian[:, 9], slope, rtol=1e-5, atol=1e-6)


def test_equations_that_diverge_are_worse_than_all_and_stop_no_others():
    trajectory = Trajectory(*Epidemic("sir").observed(0))
    explosive = PowerLaws(np.array([[2.0, 0, 0], [0, 2.0, 0]]), 1e3 * np.abs(SIR.factors))
    errors = np.mean(trajectory.residuals(np.stack([explosive.vector, SIR.vector])) ** 2, -1)
    assert np.isfinite(errors).all()
    assert errors[0] > 1e6
    assert errors[1] < 1e-8


T, X = np.linspace(0, 1, 8), np.ones((8, 2))


@pytest.mark.parametrize(
    ("times", "states", "options", "named"),
    [
        (T[::-1], X, {}, "times"),
        (T[:3], X[:3], {}, "times"),
        (T, X[:5], {}, "states"),
        (T, X * np.nan, {}, "states"),
        (T, X, {"names": ["a"]}, "names"),
        (T, X, {"terms": 0}, "terms"),
        (T, X, {"starts": 0}, "starts"),
    ],
)
def test_wrong_arguments_are_refused_by_name(times, states, options, named):
    with pytest.raises(ArgumentError, match=named):
        nalm.find_dynamics(times, states, **options)
