import pytest

from nalm.evaluate.intervals import Interval
from nalm.papers.agreement import Agreement, Finding, compare


def verdict(theirs, ours, rising=True):
    return compare(Interval(*theirs), Finding(*ours, n=25), rising=rising)


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


def test_nothing_measured_differs_from_a_number():
    assert verdict((1000.0, 900.0, 1100.0), (None, None, None), rising=False) is Agreement.DIFFERS
