"""How good a model is on fresh rows."""

from dataclasses import replace

import torch

import nalm
from nalm.second_order.flat import Flat
from nalm.second_order.quality import Quality, best, qualities
from nalm.training.models import Models

GOOD = Quality(error=1e-14, usual=1e-7, typical=1.0, deviation=0.5, spread=0.4)


def test_a_fit_is_judged_by_the_usual_row():
    assert GOOD.fits
    assert replace(GOOD, error=5.0).fits
    assert not replace(GOOD, usual=1e-4).fits


def test_what_explains_less_than_half_has_failed():
    assert not replace(GOOD, error=0.1, usual=0.2).failed
    assert replace(GOOD, error=0.3, usual=0.2).failed
    assert replace(GOOD, error=0.1, usual=0.6).failed
    assert replace(GOOD, error=torch.inf, usual=torch.inf).failed


def test_as_good_in_the_mean_or_for_the_usual_row():
    other = replace(GOOD, error=0.1, usual=0.1)
    assert replace(other, error=0.1005).as_good_as(other)
    assert replace(other, error=9.0, usual=0.05).as_good_as(other)
    assert not replace(other, error=0.2, usual=0.2).as_good_as(other)


def test_errors_are_those_of_the_model_and_a_number_that_is_none_is_infinite():
    flat = Flat(Models(nalm.NAU(2, 1), torch.float64, torch.device("cpu")))
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], dtype=torch.float64)
    vectors = torch.tensor([[1.0, 1.0], [1.0, 0.0], [torch.nan, 0.0]], dtype=torch.float64)
    found = qualities(flat, vectors, x, x.sum(1, keepdim=True))
    assert [q.error for q in found] == [0, 30, torch.inf]
    assert found[1].usual == 8
    assert best(found) == 0
