"""From continuous weights to exact ones."""

import torch
from torch import nn

import nalm
from nalm.models.many import Models
from nalm.second_order.discretise import discretise, scaled, snapped
from nalm.second_order.flat import Flat
from nalm.second_order.quality import qualities


def flat_of(model):
    return Flat(Models(model, torch.float64, torch.device("cpu")))


def rows(n, inputs, seed=0):
    return 1 + torch.rand(n, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def attempt(flat, vector, target):
    fit, fresh = rows(200, 4), rows(100, 4, seed=1)
    data = (fit, target(fit)), (fresh, target(fresh))
    (before,) = qualities(flat, vector[None], *data[1])
    return discretise(flat, vector, before, *data)


def vector(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_weights_near_discrete_ones_are_snapped():
    flat = flat_of(nalm.NMU(4, 1))
    found, quality, steps = attempt(flat, vector(0.999, 0.001, 1.002, 0), lambda x: x[:, :1] * x[:, 2:3])
    assert found.tolist() == [1, 0, 1, 0]
    assert quality.error < 1e-25
    assert steps == 0


def test_a_factor_that_moves_freely_between_layers_is_fixed():
    flat = flat_of(nn.Sequential(nalm.NAU(4, 2), nalm.NMU(2, 1)))
    free = vector(5, 5, 0, 0, 0, 0.2, 0.2, 0, 1, 1)
    found, quality, _ = attempt(flat, free, lambda x: (x[:, :2].sum(1) * x[:, 1:3].sum(1))[:, None])
    assert found.tolist() == [1, 1, 0, 0, 0, 1, 1, 0, 1, 1]
    assert quality.error < 1e-25


def test_scaling_leaves_the_last_unit_alone():
    flat = flat_of(nn.Sequential(nalm.NAU(2, 2), nalm.NAU(2, 1)))
    assert scaled(flat, vector(4, 0, -8, 8, 0.5, 0.5)).tolist() == [1, 0, -1, 1, 0.5, 0.5]


def test_weights_that_the_data_leave_open_are_found_row_by_row():
    flat = flat_of(nn.Sequential(nalm.NAU(4, 2), nalm.NAU(2, 1)))
    split = vector(1.6, 0.5, 0.9, 0.1, 0.4, 0.5, 0.1, -0.1, 1, 1)  # only the sum of both rows counts
    weights = torch.tensor([2.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    found, quality, steps = attempt(flat, split, lambda x: (x @ weights)[:, None])
    assert set(found.tolist()) <= {-1, 0, 1}
    assert quality.error < 1e-20
    assert steps > 0


def test_weights_that_are_not_discrete_are_left():
    flat = flat_of(nalm.NAU(4, 1))
    assert attempt(flat, vector(2.5, 0, 0, 0), lambda x: 2.5 * x[:, :1]) is None


def test_a_module_without_discrete_values_is_left():
    flat = flat_of(nn.Linear(4, 1))
    assert attempt(flat, vector(1, 0, 0, 0, 0), lambda x: x[:, :1]) is None


def test_snapping_is_that_of_the_units():
    flat = flat_of(nn.Sequential(nalm.NAU(2, 1), nalm.RealNPU(1, 1)))
    assert snapped(flat, vector(1.7, -0.2, 0.6, 0.9)[None]).tolist() == [[1, 0, 0.5, 1]]
