import pytest

from nalm.evaluate.intervals import Interval, success_interval
from nalm.papers.agreement import CHANCE, Agreement, Finding, compare, compare_rates, exact_test


def verdict(theirs, ours, rising=True):
    return compare(Interval(*theirs), Finding(*ours, n=25), rising=rising).agreement


def rate(solved, runs):
    found = success_interval(solved, runs)
    return Finding(found.value, found.low, found.high, runs)


# -- numbers with intervals ----------------------------------------------------------------------


def test_overlapping_intervals_agree():
    assert verdict((0.8, 0.6, 0.9), (0.95, 0.85, 0.99)) is Agreement.AGREES


def test_intervals_that_touch_agree():
    assert verdict((0.8, 0.6, 0.9), (0.95, 0.9, 0.99)) is Agreement.AGREES


@pytest.mark.parametrize(("rising", "expected"), [(True, Agreement.BETTER), (False, Agreement.DIFFERS)])
def test_more_is_better_for_success_and_worse_for_errors(rising, expected):
    assert verdict((0.2, 0.1, 0.3), (0.9, 0.8, 1.0), rising) is expected


@pytest.mark.parametrize(("rising", "expected"), [(True, Agreement.DIFFERS), (False, Agreement.BETTER)])
def test_less_is_worse_for_success_and_better_for_errors(rising, expected):
    assert verdict((0.9, 0.8, 1.0), (0.2, 0.1, 0.3), rising) is expected


def test_a_number_without_an_interval_has_no_width():
    assert verdict((0.5, None, None), (0.6, 0.5, 0.7)) is Agreement.AGREES
    assert verdict((0.49, None, None), (0.6, 0.5, 0.7)) is Agreement.BETTER


@pytest.mark.parametrize("ours", [(3.0, 3.0, 3.0), (9.0, 9.0, 9.0)])
def test_without_a_direction_nothing_is_better(ours):
    assert verdict((5.0, 5.0, 5.0), ours, rising=None) is Agreement.DIFFERS


def test_nothing_measured_differs_from_a_number():
    assert verdict((1000.0, 900.0, 1100.0), (None, None, None), rising=False) is Agreement.DIFFERS


# -- success rates -------------------------------------------------------------------------------


def test_the_exact_test_is_fishers():
    # One of eight cups of tea: 3 and 1 of 4, two-sided (Fisher 1935).
    assert exact_test(3, 4, 1, 4) == pytest.approx(34 / 70)


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ((98, 100), (19, 20), Agreement.AGREES),  # fewer seeds are comparable
        ((25, 25), (20, 25), Agreement.AGREES),
        ((25, 25), (19, 25), Agreement.DIFFERS),  # full success does not accept 19 of 25
        ((0, 25), (5, 25), Agreement.AGREES),
        ((0, 25), (6, 25), Agreement.BETTER),  # and no success not 6
        ((98, 100), (3, 3), Agreement.AGREES),
        ((98, 100), (0, 3), Agreement.DIFFERS),
    ],
)
def test_rates_are_compared_by_the_exact_test_with_the_runs_of_both_sides(theirs, ours, expected):
    found = compare_rates(rate(*theirs), rate(*ours))
    assert found.agreement is expected
    assert (found.p < CHANCE) == (expected is not Agreement.AGREES)


@pytest.mark.parametrize(
    ("theirs", "ours", "weak"),
    [
        ((25, 25), (24, 25), False),
        ((25, 25), (22, 25), True),  # 100 runs would tell these rates apart
        ((4, 10), (8, 10), True),
        ((10, 10), (10, 10), True),  # 10 runs would not notice a rate of 0.75
        ((25, 25), (1, 1), True),
        ((98, 100), (19, 20), False),
    ],
)
def test_an_agreement_is_weak_if_the_runs_were_too_few_to_tell(theirs, ours, weak):
    found = compare_rates(rate(*theirs), rate(*ours))
    assert (found.agreement, found.weak) == (Agreement.AGREES, weak)
