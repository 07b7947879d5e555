import pytest
import torch
from torch import nn

import nalm
from nalm.recipes.clamps import Bound, Project

MODELS = 3


def batch_of(kind, in_features=4, out_features=2):
    return kind(in_features, out_features, batch_shape=(MODELS,), dtype=torch.float64)


def spread_(parameter, scale=3.0):
    """Fill with numbers from -scale to scale."""
    with torch.no_grad():
        values = torch.linspace(-scale, scale, parameter.numel(), dtype=parameter.dtype)
        parameter.copy_(values.reshape(parameter.shape))
    return parameter.detach().clone()


@pytest.mark.parametrize(("kind", "low", "high"), [(nalm.NAU, -1, 1), (nalm.NMU, 0, 1)])
def test_project_puts_every_unit_into_its_own_bounds(kind, low, high):
    model = nn.Sequential(batch_of(kind, 4, 3), batch_of(kind, 3, 2))
    before = [spread_(unit.weight) for unit in model]
    Project()(model)
    for unit, weight in zip(model, before):
        assert torch.equal(unit.weight, weight.clamp(low, high))


def test_project_leaves_admissible_weights_alone():
    unit = batch_of(nalm.NMU)
    before = unit.weight.detach().clone()
    Project()(unit)
    assert torch.equal(unit.weight, before)


def test_project_leaves_units_without_bounds_alone():
    unit = batch_of(nalm.NAC)
    before = spread_(unit.w_hat, 30)
    Project()(unit)
    assert torch.equal(unit.w_hat, before)


def test_bound_clamps_the_parameter_it_names():
    unit = batch_of(nalm.RealNPU)
    weight, gate = spread_(unit.weight), spread_(unit.gate)
    Bound("weight", -1, 1)(unit)
    assert torch.equal(unit.weight, weight.clamp(-1, 1))
    assert torch.equal(unit.gate, gate)


def test_bound_reaches_every_unit_that_has_the_parameter():
    model = nn.Sequential(batch_of(nalm.NAU, 4, 3), batch_of(nalm.NAC, 3, 3), batch_of(nalm.RealNPU, 3, 2))
    first, raw, last = spread_(model[0].weight), spread_(model[1].w_hat), spread_(model[2].weight)
    Bound("weight", -0.5, 0.25)(model)
    assert torch.equal(model[0].weight, first.clamp(-0.5, 0.25))
    assert torch.equal(model[1].w_hat, raw)
    assert torch.equal(model[2].weight, last.clamp(-0.5, 0.25))


def test_bounds_may_differ_from_model_to_model():
    unit = batch_of(nalm.RealNPU)
    weight, gate = spread_(unit.weight), spread_(unit.gate)
    low = torch.tensor([-1.0, -0.5, 0.0], dtype=torch.float64)
    high = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    Bound("weight", low, high)(unit)
    Bound("gate", low, high)(unit)
    for k in range(MODELS):
        assert torch.equal(unit.weight[k], weight[k].clamp(low[k].item(), high[k].item()))
        assert torch.equal(unit.gate[k], gate[k].clamp(low[k].item(), high[k].item()))


def test_clamps_keep_the_parameter_and_its_precision():
    unit = nalm.NAU(2, 1, batch_shape=(MODELS,))
    parameter = unit.weight
    Bound("weight", torch.full((MODELS,), -0.1, dtype=torch.float64), 0.1)(unit)
    Project()(unit)
    assert unit.weight is parameter
    assert parameter.dtype == torch.float32
    assert parameter.requires_grad
