import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call

import nalm
from nalm.models import ModelSpec
from nalm.recipes.penalties import L0, L1, L2, Discretise, InputIdentity, UnitPenalty
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


def test_l1_of_units_leaves_other_layers_alone(stack):
    network = nn.Sequential(nn.Linear(3, 4), stack[0], nn.Tanh(), stack[1])
    expected = sum(np.abs(w).sum((1, 2)) for w in weights(stack))
    value = L1(of="units")(network, at())
    assert np.allclose(value.detach().numpy(), expected, rtol=1e-12)
    value.sum().backward()
    assert network[0].weight.grad is None
    assert (stack[0].weight.grad.abs() == 1).all()


def test_l1_of_units_can_be_of_one_parameter_and_is_none_without_units():
    unit = batch_of(nalm.NPU, 2, 1)
    value = L1(of="units", parameter="imaginary")(nn.Sequential(unit, nn.Linear(1, 1)), at())
    assert torch.allclose(value, unit.imaginary.abs().sum((-2, -1)), rtol=1e-12)
    assert L1(of="units")(nn.Linear(2, 1), at()) is None


def test_l1_of_units_counts_a_parameter_once_where_units_are_made_of_units():
    pair = ModelSpec.parse("gated").build(2, 1)
    both = [value(pair).sum().detach() for value in (L1().value, L1(of="units").value)]
    assert torch.allclose(*both)


def test_l1_is_of_the_model_or_of_units():
    with pytest.raises(nalm.ArgumentError, match="`of` must be one of model, units, but got 'unit'"):
        L1(of="unit")


# -- what a unit reads ---------------------------------------------------------------------------


class Telling(nn.Module):
    """A network that tells the means of what its unit has seen."""

    def __init__(self, unit, seen):
        super().__init__()
        self.unit, self.seen = unit, seen


def telling(kind=nalm.NMU, in_features=4, out_features=2):
    unit = batch_of(kind, in_features, out_features)
    seen = torch.linspace(-1, 3, in_features, dtype=torch.float64)
    return Telling(unit, seen.requires_grad_())


def identity_penalty(network, identity):
    """R_z of each model, one weight after the other."""
    weight, seen = network.unit.weight.detach().numpy(), network.seen.detach().numpy()
    return [
        np.mean([(1 - abs(w)) * (identity - z) ** 2 for row in own for w, z in zip(row, seen)])
        for own in weight
    ]


@pytest.mark.parametrize("identity", [0.0, 1.0])
@pytest.mark.parametrize("kind", [nalm.NMU, nalm.NAU])
def test_r_z_is_the_mean_over_the_weights_of_how_far_an_unselected_input_is_from_the_identity(kind, identity):
    network = telling(kind)
    value = InputIdentity(identity=identity)(network, at())
    assert value.shape == (MODELS,)
    assert np.allclose(value.detach().numpy(), identity_penalty(network, identity), rtol=1e-12)


@pytest.mark.parametrize("identity", [0.0, 1.0])
def test_gradients_of_r_z_are_those_of_finite_differences(identity):
    network = telling()
    nn.init.uniform_(network.unit.weight, 0.1, 0.9)

    def value(weight, seen):
        other = Telling(network.unit, seen)
        return functional_call(
            Asked(other), {"network.unit.weight": weight}, (InputIdentity(identity=identity),)
        )

    class Asked(nn.Module):
        def __init__(self, network):
            super().__init__()
            self.network = network

        def forward(self, penalty):
            return penalty(self.network, at())

    weight = network.unit.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(value, (weight, network.seen))


@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_a_selected_input_may_be_anything(weight):
    network = telling()
    nn.init.constant_(network.unit.weight, weight)
    value = InputIdentity(10.0)(network, at())
    assert (value == 0).all()
    (gradient,) = torch.autograd.grad(value.sum(), network.seen)
    assert (gradient == 0).all()


@pytest.mark.parametrize("identity", [0.0, 1.0])
def test_an_input_that_is_the_identity_need_not_be_selected(identity):
    network = telling()
    nn.init.zeros_(network.unit.weight)
    network.seen = torch.full_like(network.seen, identity)
    assert (InputIdentity(10.0, identity=identity)(network, at()) == 0).all()
    assert (InputIdentity(10.0, identity=1 - identity)(network, at()) == 10).all()


def test_strength_schedule_and_identity_of_r_z_may_differ_from_model_to_model():
    network = telling()
    strength = torch.tensor([0.01, 1.0, 10.0], dtype=torch.float64)
    identity = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)
    expected = [identity_penalty(network, float(i))[k] for k, i in enumerate(identity)]
    value = InputIdentity(strength, Ramp(0, 100), identity)(network, at(25))
    assert np.allclose(value.detach().numpy(), 0.25 * strength.numpy() * expected, rtol=1e-12)


def test_nothing_is_penalised_where_nothing_is_told(stack):
    assert InputIdentity()(stack, at()) is None
    assert InputIdentity()(Telling(batch_of(nalm.NMU, 2, 1), None), at()) is None
    assert InputIdentity()(Telling(nn.Linear(2, 1), torch.zeros(2)), at()) is None


@pytest.mark.parametrize("name", ["nmru", "npu", "realnpu", "inalu", "gated", "selector"])
def test_units_with_other_weights_than_one_per_input_can_be_trained_with_r_z(name):
    """`nmru` has two weights per input, others several tables of weights, or weights of another shape."""
    unit = ModelSpec.parse(name).build(2, 1, batch_shape=(MODELS,))
    value = InputIdentity()(Telling(unit, torch.tensor([2.0, 3.0])), at())
    assert value is None or value.shape == (MODELS,)
