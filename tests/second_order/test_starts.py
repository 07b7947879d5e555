"""Where a population begins."""

import itertools

import pytest
import torch
from torch import nn

import nalm
from nalm.models.many import Models
from nalm.second_order.flat import Flat
from nalm.second_order.measures import Measure
from nalm.second_order.starts import drawn, grown, grown_selection
from nalm.streams import Purpose


def flat_of(model):
    return Flat(Models(model, torch.float64, torch.device("cpu")))


def rows(low, high, inputs=8, n=256):
    u = torch.rand(n, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return low + (high - low) * u


@pytest.mark.parametrize("unit", [nalm.NRU, nalm.NMRU, nalm.RealNPU, nalm.NPU])
@pytest.mark.parametrize(("low", "high"), [(-2, 2), (-1.2, -1.1), (0.1, 0.2), (10, 20)])
def test_a_selection_of_several_inputs_grows_whatever_their_signs(unit, low, high):
    flat, x = flat_of(unit(8, 1)), rows(low, high)
    y = (x[:, 1] * x[:, 4] / (x[:, 6] * x[:, 2]))[:, None]
    found = grown_selection(flat, x, y, Measure.LOGARITHMIC)
    torch.testing.assert_close(flat.predict(found, x)[0], y, rtol=1e-2, atol=0)


def test_sums_grow_in_the_plain_measure():
    flat, x = flat_of(nalm.NAU(8, 2)), rows(-2, 2)
    y = torch.stack([x[:, 0] - x[:, 5], x[:, 1] + x[:, 2] + x[:, 3]], 1)
    found = flat.named(grown_selection(flat, x, y, Measure.PLAIN))["weight"][0]
    assert found[0].nonzero().flatten().tolist() == [0, 5]
    assert found[0, 5] == -1
    assert found[1].nonzero().flatten().tolist() == [1, 2, 3]


def test_drawn_starts_begin_with_that_of_first_order_training_and_differ():
    flat = flat_of(nalm.NMU(4, 1))
    wave = drawn(flat, 7, 3)
    first = flat.models.initial(torch.tensor([7], dtype=torch.int32), Purpose.INIT)
    assert torch.equal(wave.vectors[:1], flat.flatten(first))
    assert len({tuple(vector.tolist()) for vector in wave.vectors[:3]}) == 3
    assert wave.logarithmic.tolist() == [False] * 3 + [True] * 3


def test_a_stack_grows_in_size_with_the_later_unit_held():
    flat = flat_of(nn.Sequential(nalm.NAU(4, 3), nalm.NMU(3, 1)))
    waves = list(grown(flat, rows(1, 2, 4), rows(1, 2, 1), 0, 4))
    later = [wave.vectors[0, -3:].tolist() for wave in waves]
    assert later == [[1, 0, 0], [1, 1, 0], [1, 1, 1]] * 2  # both measures; negative ones select nothing new
    assert all(wave.held.tolist() == [False] * 12 + [True] * 3 for wave in waves)


def test_a_unit_that_divides_also_grows_with_negative_weights():
    flat = flat_of(nn.Sequential(nalm.NAU(4, 2), nalm.NRU(2, 1)))
    waves = itertools.islice(grown(flat, rows(1, 2, 4), rows(1, 2, 1), 0, 4), 5)
    assert [w.vectors[0, -2:].tolist() for w in waves] == [[1, 0], [1, 1], [-1, 0], [1, -1], [-1, -1]]


def test_a_module_without_units_grows_nothing():
    assert not list(grown(flat_of(nn.Linear(4, 1)), rows(1, 2, 4), rows(1, 2, 1), 0, 4))
