"""How good a model is on fresh rows."""

import torch

import nalm
from nalm.models.many import Models
from nalm.second_order.flat import Flat
from nalm.second_order.quality import best, qualities

ROWS = torch.arange(1.0, 101.0, dtype=torch.float64)[:, None]


def quality(off, y=ROWS):
    """The quality of predictions that are off by so much in each row."""
    flat = Flat(Models(nalm.NAU(1, y.shape[-1]), torch.float64, torch.device("cpu")))
    flat.predict = lambda vectors, x: (y + off)[None]
    return qualities(flat, torch.zeros(1, flat.size, dtype=torch.float64), ROWS, y)[0]


def some(count, size):
    """Off by this size in the last so many of 100 rows."""
    return torch.where(torch.arange(100)[:, None] >= 100 - count, size, 0.0).double()


def test_a_fit_leaves_nothing_but_a_few_rows_that_are_a_little_off():
    assert quality(some(100, 1e-6)).fits
    assert quality(some(10, 1.0)).fits
    assert not quality(some(11, 1.0)).fits
    assert not quality(some(1, 10.0)).fits
    assert not quality(some(20, 1.0)).fits


def test_a_fit_is_judged_by_the_deviation_where_targets_are_far_from_zero():
    assert not quality(0.5 * torch.ones_like(ROWS), 1e6 + ROWS / 100).fits


def test_every_output_counts():
    both = torch.cat([ROWS, 1e-6 * ROWS], 1)
    assert not quality(torch.cat([0 * ROWS, 1e-6 * ROWS], 1), both).fits
    assert quality(torch.cat([0 * ROWS, 1e-6 * ROWS], 1), both).failed


def test_what_explains_less_than_half_of_the_variance_has_failed():
    deviation = float(ROWS.std(correction=0))
    assert not quality(0.7 * deviation * torch.ones_like(ROWS)).failed
    assert quality(0.72 * deviation * torch.ones_like(ROWS)).failed
    assert quality(torch.inf * ROWS).failed


def test_targets_that_are_mostly_zero_or_constant_are_no_special_case():
    y = some(30, 4.0)
    assert not quality(torch.zeros_like(y), y).failed
    assert quality(1e-12 * y, y).fits
    assert quality(torch.zeros_like(ROWS), torch.full_like(ROWS, 3.0)).fits
    assert quality(torch.ones_like(ROWS), torch.full_like(ROWS, 3.0)).failed


def test_what_fits_is_as_good_as_anything_and_nothing_else_is_as_good_as_a_fit():
    assert quality(some(100, 1e-6)).as_good_as(quality(some(100, 1e-12)))
    assert quality(some(3, 1.0)).as_good_as(quality(some(2, 0.1)))
    assert not quality(some(3, 1.0)).as_good_as(quality(some(100, 1e-12)))
    assert not quality(some(30, 1.0)).as_good_as(quality(some(2, 0.1)))


def test_with_noise_as_good_is_what_chance_explains():
    noise = torch.randn(100, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    other = quality(noise)
    assert quality(noise + 0.02).as_good_as(other)
    assert not quality(noise + 1.0).as_good_as(other)
    assert quality(0.5 * noise).as_good_as(other)
    assert not other.as_good_as(quality(0.5 * noise))
    assert not quality(torch.nan * noise).as_good_as(other)


def test_errors_are_those_of_the_model_and_a_number_that_is_none_is_infinite():
    flat = Flat(Models(nalm.NAU(2, 1), torch.float64, torch.device("cpu")))
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], dtype=torch.float64)
    vectors = torch.tensor([[1.0, 1.0], [1.0, 0.0], [torch.nan, 0.0]], dtype=torch.float64)
    found = qualities(flat, vectors, x, x.sum(1, keepdim=True))
    assert [q.error for q in found] == [0, 30, torch.inf]
    assert best(found) == 0
