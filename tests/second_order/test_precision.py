"""How exactly the numbers of a table are given."""

import pytest
import torch

from nalm.second_order.precision import tolerance


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


def allowed(y, x=None, slope=1.0):
    """The tolerance of targets that are inputs times a slope."""
    x = y if x is None else x
    return tolerance(x, y, torch.full((len(y), 1, 1), slope, dtype=torch.float64))[:, 0].tolist()


def test_whole_numbers_stand_for_themselves():
    assert max(allowed(numbers(1, 2, 300))) < 1e-12


def test_numbers_of_full_length_are_met_to_their_rounding():
    (small, large) = allowed(numbers(0.1234567890123456, 1234.567890123456))
    assert 1e-17 < small < 1e-15
    assert 1e-13 < large < 1e-11


def test_single_precision_is_seen_in_the_numbers():
    y = numbers(0.1, 0.7, 0.3).float().double()
    assert 1e-8 < min(allowed(y)) < max(allowed(y)) < 1e-5


def test_decimals_were_rounded_to_places():
    assert allowed(numbers(12.34, 0.12, 5.5)) == pytest.approx([0.005] * 3)


def test_or_to_digits():
    found = allowed(numbers(1.234, 12.34, 123.4, 1234))
    assert found == pytest.approx([0.0005, 0.005, 0.05, 0.5])


def test_roundings_of_inputs_grow_with_the_slope():
    x, y = numbers(1000.1234567890123), numbers(0.1234567890123456)
    assert allowed(y, x, 1.0)[0] > 1000 * allowed(y, x, 0.0)[0]


def test_a_slope_that_is_no_number_does_not_count():
    assert allowed(numbers(0.1234567890123456), slope=torch.nan)[0] < 1e-15
