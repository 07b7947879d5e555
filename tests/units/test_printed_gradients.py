"""Gradients as Madsen & Johansen 2020 (appendix A) and the thesis (5.3, H) print them, against ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from nalm.papers.madsen2020.programs import printed_gradients as of_madsen
from nalm.papers.madsen2020.programs.printed_gradients import Pair, difference
from nalm.papers.mistry2023.programs import printed_gradients as of_thesis
from nalm.units import NMU

MISPRINT = ("NAU-sNMU", "H.4, W of the NAU, as printed")
PAIRS = {**of_madsen.PAIRS, **of_thesis.PAIRS}
RIGHT = {place: pair for place, pair in PAIRS.items() if place != MISPRINT}


@pytest.mark.parametrize("make", RIGHT.values(), ids=map(", ".join, RIGHT))
def test_printed_gradient_is_ours(make: Callable[[], Pair]) -> None:
    printed, ours = make()
    assert printed.dtype == ours.dtype == torch.float64
    assert printed.shape == ours.shape
    assert bool((ours != 0).all())
    assert float(difference((printed, ours))) < 1e-12


def test_one_index_is_misprinted() -> None:
    assert float(difference(PAIRS[MISPRINT]())) > 0.01


def test_a_wrong_sign_is_noticed() -> None:
    printed, ours = RIGHT["NMU", "equation 26, W"]()
    assert float(difference((-printed, ours))) == pytest.approx(2)


def test_gradient_of_the_nmu_by_hand() -> None:
    unit = NMU(2, 1, dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[0.25, 0.5]]))
    (slope,) = torch.autograd.grad(unit(torch.tensor([[3.0, 5.0]], dtype=torch.float64)).sum(), unit.weight)
    assert slope.tolist() == [pytest.approx([(3 - 1) * 3.0, (5 - 1) * 1.5])]
