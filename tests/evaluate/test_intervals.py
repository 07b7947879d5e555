"""Intervals: known values, published ones, and how often they cover the truth."""

import numpy as np
import pytest

from nalm.evaluate.intervals import beta_interval, gamma_interval, success_interval, t_interval

# Madsen & Johansen's public results: successes, runs, low, high.
PUBLISHED = [
    (93, 100, 0.862505, 0.965681),
    (0, 100, 0, 0.0369935),
    (3, 100, 0.0102545, 0.0845194),
    (100, 100, 0.963007, 1),
    (14, 100, 0.0852634, 0.221372),
    (0, 10, 0, 0.277533),
    (1, 10, 0.0178762, 0.40415),
    (5, 10, 0.236593, 0.763407),
    (9, 10, 0.59585, 0.982124),
    (10, 10, 0.722467, 1),
    (12, 49, 0.146023, 0.380863),
    (0, 50, 0, 0.0713476),
    (21, 50, 0.29375, 0.557666),
    (39, 50, 0.647585, 0.872461),
    (50, 50, 0.928652, 1),
    (1, 51, 0.00346969, 0.103046),
    (34, 51, 0.529684, 0.780301),
    (50, 54, 0.824459, 0.970818),
]


@pytest.mark.parametrize(("successes", "runs", "low", "high"), PUBLISHED)
def test_success_has_the_published_intervals(successes, runs, low, high):
    found = success_interval(successes, runs)
    assert (found.value, found.low, found.high) == pytest.approx((successes / runs, low, high), abs=1e-6)


@pytest.mark.parametrize("runs", range(1, 60))
def test_a_rate_lies_in_its_interval(runs):
    for successes in range(runs + 1):
        found = success_interval(successes, runs)
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_no_runs_have_no_rate():
    assert success_interval(0, 0).value is None
    assert gamma_interval([]).value is None
    assert beta_interval([]).value is None


@pytest.mark.parametrize("interval", [gamma_interval, beta_interval, t_interval])
def test_one_value_has_no_interval(interval):
    found = interval([0.25])
    assert (found.value, found.low, found.high) == (0.25, None, None)


@pytest.mark.parametrize("interval", [gamma_interval, beta_interval])
def test_values_that_agree_have_an_interval_without_width(interval):
    found = interval([0.125] * 4)
    assert found.low == pytest.approx(0.125)
    assert found.high == pytest.approx(0.125)


@pytest.mark.parametrize(("shape", "count"), [(2.0, 25), (50.0, 25), (2000.0, 10)])
def test_the_gamma_interval_covers_the_mean_as_often_as_it_says(shape, count):
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        found = gamma_interval(generator.gamma(shape, 3000 / shape, count))
        covered += found.low <= 3000 <= found.high
    assert 0.90 <= covered / 400 <= 0.98


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (0.3, 40.0)])
def test_the_beta_interval_covers_the_mean_as_often_as_it_says(a, b):
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(150):
        found = beta_interval(generator.beta(a, b, 25) / 2)
        covered += found.low <= a / (a + b) / 2 <= found.high
    assert 0.88 <= covered / 150 <= 0.99


def ulp_above(value):
    return float(np.nextafter(np.float32(value), np.float32(1)))


@pytest.mark.parametrize("interval", [gamma_interval, beta_interval])
@pytest.mark.parametrize("base", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.4999])
@pytest.mark.parametrize("spread", [0, "ulp", 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1])
def test_values_that_nearly_agree_have_a_narrow_interval_around_them(interval, base, spread):
    last = ulp_above(base) if spread == "ulp" else base * (1 + spread)
    values = [float(np.float32(base))] * 24 + [min(last, 0.5)]
    found = interval(values)
    assert found.low <= found.value <= found.high
    width = 4 * (max(values) - min(values)) / 5  # about four standard errors
    assert found.high - found.low <= 1.5 * width + 1e-15
    assert found.value == pytest.approx(np.mean(values), rel=1e-2)


def test_the_mean_of_sparsity_errors_lies_in_its_interval():
    found = beta_interval([0.5] * 5 + [1e-7] * 20)
    assert (found.value, found.low, found.high) == pytest.approx((0.2165, 0.152, 0.286), abs=1e-3)


def test_small_sparsity_errors_join_larger_ones_smoothly():
    below, above = (beta_interval([k * scale for k in (1, 2, 3, 4)]) for scale in (2.49e-6, 2.51e-6))
    for a, b in ((below.low, above.low), (below.high, above.high)):
        assert b / a == pytest.approx(2.51 / 2.49, rel=1e-4)


def test_no_end_lies_outside_what_is_possible():
    assert gamma_interval([0, 0, 1000]).low == 0
    assert beta_interval([0.0, 0.5]).low >= 0


def test_the_gamma_interval_is_wider_above_than_below():
    found = gamma_interval([1000, 2000, 3000, 9000])
    assert found.high - found.value > found.value - found.low > 0


def test_sparsity_errors_of_zero_and_one_half_are_taken():
    found = beta_interval([0.0, 1e-8, 0.5, 0.25])
    assert 0 <= found.low < found.value < found.high <= 0.5


def test_scale_does_not_matter():
    small, large = gamma_interval([1, 2, 4]), gamma_interval([1e6, 2e6, 4e6])
    assert large.low == pytest.approx(1e6 * small.low)
    assert large.high == pytest.approx(1e6 * small.high)
