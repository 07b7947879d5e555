import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm.recipes.schedules import Always, Growth, Ramp, StepState, WhenLossBelow


def at(steps, losses=None, dtype=torch.float64):
    steps = torch.as_tensor(steps, dtype=torch.int32)
    losses = torch.zeros(len(steps)) if losses is None else torch.as_tensor(losses)
    return StepState(steps, losses.to(dtype))


def scales(schedule, steps, losses=None):
    return schedule.scale(at(steps, losses)).double().numpy()


def per_model(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_always_is_one_whatever_the_step_and_the_loss():
    assert (scales(Always(), [0, 7, 10**6], [0.0, np.inf, np.nan]) == 1).all()


@pytest.mark.parametrize(("step", "expected"), [(0, 0), (20_000, 0), (27_500, 0.5), (35_000, 1), (50_000, 1)])
def test_ramp_rises_from_start_to_end(step, expected):
    assert scales(Ramp(20e3, 35e3), [step]) == expected


@settings(deadline=None, derandomize=True)
@given(
    start=st.integers(0, 2_000_000),
    length=st.integers(1, 2_000_000),
    step=st.integers(0, 5_000_000),
)
def test_ramp_is_the_clipped_fraction(start, length, step):
    expected = np.clip((step - start) / length, 0, 1)
    ramp = Ramp(per_model(start), per_model(start + length))
    assert np.allclose(scales(ramp, [step]), expected, rtol=1e-12)
    assert np.allclose(scales(Ramp(start, start + length), [step]), expected, atol=1e-6)


def test_ramp_without_length_is_a_jump_and_never_undefined():
    assert np.array_equal(scales(Ramp(10.0, 10.0), [9, 11]), [0, 1])
    assert np.isfinite(scales(Ramp(10.0, 10.0), [10])).all()


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, 1e-7), (9_999, 1e-7), (10_000, 1e-6), (19_999, 1e-6), (20_000, 1e-5), (30_000, 1e-5), (10**6, 1e-5)],
)
def test_growth_multiplies_at_every_interval_up_to_the_last(step, expected):
    assert np.allclose(scales(Growth(1e-7, 1e-5), [step]), expected, rtol=1e-12)


@settings(deadline=None, derandomize=True)
@given(
    first=st.floats(1e-12, 1.0),
    factor=st.floats(1.0, 20.0),
    every=st.integers(1, 20_000),
    step=st.integers(0, 100_000),
)
def test_growth_is_the_formula(first, factor, every, step):
    last = 1e3 * first
    with np.errstate(over="ignore"):
        expected = min(first * np.float64(factor) ** (step // every), last)
    growth = Growth(*(per_model(value) for value in (first, last, factor, every)))
    assert np.allclose(scales(growth, [step]), expected, rtol=1e-9)


@pytest.mark.parametrize("multiple", [1, 3, 7, 99, 499])
def test_growth_changes_at_the_interval_and_not_a_step_earlier(multiple):
    growth = Growth(1.0, np.inf, 1.01, 10_000.0)
    before, after = scales(growth, [10_000 * multiple - 1, 10_000 * multiple])
    assert after / before == pytest.approx(1.01)


@pytest.mark.parametrize(
    ("step", "loss", "expected"),
    [
        (10_001, 0.5, 1),
        (10_000, 0.5, 0),
        (0, 0.5, 0),
        (10_001, 1.0, 0),
        (10_001, 2.0, 0),
        (10_001, np.inf, 0),
        (10_001, np.nan, 0),
    ],
)
def test_the_trigger_needs_a_later_step_and_a_smaller_loss(step, loss, expected):
    assert scales(WhenLossBelow(), [step], [loss]) == expected


def test_numbers_may_differ_from_model_to_model():
    steps, losses = [5, 5, 5], [0.5, 0.5, 0.5]
    ramp = Ramp(per_model(0, 5, 2), per_model(10, 10, 6))
    assert np.allclose(scales(ramp, steps), [0.5, 0, 0.75])
    growth = Growth(per_model(1, 2, 3), per_model(100, 5, 3), per_model(10, 2, 10), per_model(5, 1, 1))
    assert np.allclose(scales(growth, steps), [10, 5, 3])
    trigger = WhenLossBelow(per_model(1, 1, 0.1), per_model(4, 5, 0))
    assert np.array_equal(scales(trigger, steps, losses), [1, 0, 0])


@pytest.mark.parametrize("schedule", [Always(), Ramp(0, 10), Growth(1e-7, 1e-5), WhenLossBelow()])
def test_a_schedule_is_one_factor_per_model(schedule):
    assert schedule.scale(at([1, 2, 3])).shape == (3,)
