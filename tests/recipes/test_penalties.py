import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.recipes.penalties import L0, L1, L2, Discretise, UnitPenalty
from nalm.recipes.schedules import Ramp, StepState, WhenLossBelow

MODELS = 3
SETS = {"0,1": (0, 1), "-1,0,1": (-1, 0, 1), "-1,1": (-1, 1)}


def at(step=0, loss=0.0):
    return StepState(
        torch.full((MODELS,), step, dtype=torch.int32), torch.full((MODELS,), loss, dtype=torch.float64)
    )


def batch_of(kind, in_features, out_features):
    unit = kind(in_features, out_features, batch_shape=(MODELS,), dtype=torch.float64)
    generator = torch.Generator().manual_seed(in_features)
    with torch.no_grad():
        for parameter in unit.parameters():
            parameter.copy_(2 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return unit


@pytest.fixture
def stack():
    return nn.Sequential(batch_of(nalm.NAU, 5, 3), batch_of(nalm.NMU, 3, 2))


def weights(model):
    return [unit.weight.detach().numpy() for unit in model]


def mean_distance(values, admissible):
    """Mean over all but the first axis of the distance from the nearest admissible value."""
    distance = np.min([np.abs(values - a) for a in admissible], axis=0)
    return distance.reshape(MODELS, -1).mean(-1)


def test_unit_penalty_is_the_sum_of_the_units_published_penalties(stack):
    first, second = weights(stack)
    expected = mean_distance(first, (-1, 0, 1)) + mean_distance(second, (0, 1))
    assert np.allclose(UnitPenalty()(stack, at()).detach().numpy(), expected, rtol=1e-12)


def test_l1_sums_the_sizes_of_all_parameters(stack):
    expected = sum(np.abs(w).sum((1, 2)) for w in weights(stack))
    assert np.allclose(L1()(stack, at()).detach().numpy(), expected, rtol=1e-12)


def test_l2_sums_the_squares_of_all_parameters(stack):
    expected = sum((w**2).sum((1, 2)) for w in weights(stack))
    assert np.allclose(L2()(stack, at()).detach().numpy(), expected, rtol=1e-12)


def test_l1_counts_gates_as_well():
    unit = batch_of(nalm.RealNPU, 4, 2)
    expected = unit.weight.abs().sum((-2, -1)) + unit.gate.abs().sum(-1)
    assert torch.allclose(L1()(unit, at()), expected, rtol=1e-12)


@pytest.mark.parametrize(("penalty", "expected"), [(L1(), [2.0, 3.0, 4.0]), (L2(), [4.0, 9.0, 16.0])])
def test_parameters_that_are_single_numbers_are_counted(penalty, expected):
    model = nn.Module()
    model.scale = nn.Parameter(torch.tensor([2.0, -3.0, 4.0]))
    assert penalty(model, at()).tolist() == expected


@pytest.mark.parametrize(("values", "admissible"), SETS.items())
def test_discretise_is_the_mean_distance_from_the_set(stack, values, admissible):
    expected = sum(mean_distance(w, admissible) for w in weights(stack))
    value = Discretise(values=values)(stack, at())
    assert np.allclose(value.detach().numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(("values", "admissible"), SETS.items())
def test_discretise_is_zero_on_the_set_and_only_there(values, admissible):
    unit = batch_of(nalm.NAU, 2, 1)
    penalty = Discretise(values=values)
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0):
        nn.init.constant_(unit.weight, value)
        assert ((penalty(unit, at()) == 0) == (value in admissible)).all()


def test_discretise_of_gates_looks_at_gates_alone():
    unit = batch_of(nalm.RealNPU, 4, 2)
    clipped = unit.gate.detach().clamp(0, 1).numpy()
    value = Discretise(values="0,1", of="gates")(unit, at())
    assert np.allclose(value.detach().numpy(), mean_distance(clipped, (0, 1)), rtol=1e-12)


def test_without_gates_nothing_is_penalised(stack):
    assert Discretise(of="gates")(stack, at()) is None


def test_without_units_nothing_is_penalised():
    assert UnitPenalty()(nn.Identity(), at()) is None
    assert L1()(nn.Identity(), at()) is None


@pytest.mark.parametrize("kind", [UnitPenalty, L1, L2, Discretise])
def test_strength_and_schedule_multiply(stack, kind):
    plain = kind()(stack, at())
    assert torch.allclose(kind(10.0, Ramp(0, 100))(stack, at(25)), 2.5 * plain, rtol=1e-12)
    assert (kind(10.0, WhenLossBelow())(stack, at(20_000, 2.0)) == 0).all()


@pytest.mark.parametrize("kind", [UnitPenalty, L1, L2, Discretise])
def test_strength_and_schedule_may_differ_from_model_to_model(stack, kind):
    strength = torch.tensor([0.01, 1.0, 10.0], dtype=torch.float64)
    ramp = Ramp(torch.tensor([0.0, 0.0, 50.0]).double(), torch.tensor([100.0, 50.0, 100.0]).double())
    expected = kind()(stack, at()) * torch.tensor([0.005, 1.0, 0.0], dtype=torch.float64)
    assert torch.allclose(kind(strength, ramp)(stack, at(50)), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [UnitPenalty, L1, L2, Discretise])
def test_the_gradient_of_a_model_is_its_own(stack, kind):
    (gradient,) = torch.autograd.grad(kind()(stack, at())[1], stack[0].weight)
    assert (gradient[[0, 2]] == 0).all()
    assert (gradient[1] != 0).all()


@pytest.mark.parametrize("kind", [UnitPenalty, L1, L2, Discretise])
def test_a_penalty_keeps_the_precision_of_the_parameters(stack, kind):
    strength = torch.ones(MODELS, dtype=torch.float64)
    value = kind(strength, Ramp(0, 1))(stack.float(), at(1))
    assert value.shape == (MODELS,)
    assert value.dtype == torch.float32


def test_discretise_refuses_values_that_it_does_not_know():
    with pytest.raises(nalm.ArgumentError, match="`values`"):
        Discretise(values="0,2")


def test_discretise_of_one_name_penalises_that_alone():
    unit = nalm.RealNPU(2, 1, batch_shape=(MODELS,))
    weights = Discretise(of="W").value(unit)
    torch.testing.assert_close(weights, Discretise(of="weights").value(unit))
    torch.testing.assert_close(Discretise(of="g", values="0,1").value(unit), torch.full((MODELS,), 0.5))


def test_discretise_of_a_name_that_no_unit_has_is_refused_with_the_nearest():
    with pytest.raises(nalm.ArgumentError, match=r"`of` must be one of weights, gates, W.*'weights'"):
        Discretise(of="weigths").value(nalm.NAU(2, 1, batch_shape=(MODELS,)))


def test_l1_of_one_name_leaves_the_others_alone():
    unit = nalm.NPU(2, 1, batch_shape=(MODELS,))
    with torch.no_grad():
        unit.imaginary.fill_(0.25)
    torch.testing.assert_close(L1(parameter="imaginary").value(unit), torch.full((MODELS,), 0.5))


def test_l0_is_the_expected_number_of_open_gates():
    stack = nn.Sequential(nalm.NAU(3, 2, batch_shape=(MODELS,)), nalm.STGNMU(2, 3, batch_shape=(MODELS,)))
    expected = torch.full((MODELS,), 6 * 0.8413447)
    torch.testing.assert_close(L0().value(stack), expected)
    assert L0().value(stack[0]) is None


def test_penalties_can_be_restricted_to_units_of_a_name():
    stack = nn.Sequential(nalm.NAU(3, 2, batch_shape=(MODELS,)), nalm.RealNPU(2, 1, batch_shape=(MODELS,)))
    nau, npu = stack
    torch.testing.assert_close(UnitPenalty(unit="nau").value(stack), nau.penalty())
    expected = Discretise(values="-1,1", of="W").value(npu)
    torch.testing.assert_close(Discretise(values="-1,1", of="W", unit="realnpu").value(stack), expected)
    assert UnitPenalty(unit="nmu").value(stack) is None


def test_the_modified_recipe_leaves_other_units_of_a_stack_alone():
    recipe = nalm.RealNPU.recipe("div", "modified")
    stack = nn.Sequential(nalm.NMU(2, 2, batch_shape=(1,)), nalm.RealNPU(2, 1, batch_shape=(1,)))
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.fill_(-3)
    for clamp in recipe.clamps:
        clamp(stack)
    assert [float(p.detach().flatten()[0]) for p in stack.parameters()] == [0, -1, 0]
    assert recipe.initialise[0].initialiser(stack[0], "weight") is None
    assert recipe.initialise[0].initialiser(stack[1], "weight").high == 0.5
