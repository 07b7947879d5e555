"""The helpers for a user's own network: they find the units and leave everything else alone."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrize, prune

import nalm
from nalm.recipes import Adam as AdamRecipe
from nalm.units import UNITS

MATRIX = st.lists(st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3), min_size=2, max_size=2)


class Network(nn.Module):
    """What a user may write: units here and there, between ordinary layers."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(4, 3)
        self.sums = nn.ModuleList([nalm.NAU(3, 2), nalm.NAC(3, 2)])
        self.named = nn.ModuleDict({"product": nalm.NMU(4, 2), "quotient": nalm.RealNPU(2, 1)})
        self.after = nn.Sequential(nn.Tanh(), nn.Linear(1, 1))

    def units(self):
        return [*self.sums, *self.named.values()]

    def forward(self, x):
        hidden = self.before(x)
        both = torch.cat([unit(hidden) for unit in self.sums], -1)
        return self.after(self.named["quotient"](self.named["product"](both)))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network()


def unit_with(cls, weight, **options):
    """An NAU or NMU with this weight matrix."""
    weight = torch.tensor(weight)
    unit = cls(weight.shape[-1], weight.shape[-2], batch_shape=weight.shape[:-2], **options)
    unit.load_state_dict({"weight": weight})
    return unit


def state_of(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


def same(state, other):
    return state.keys() == other.keys() and all(torch.equal(state[name], other[name]) for name in state)


def step_upwards(optimizer, parameter):
    """One step that makes every value of the parameter much larger."""

    def closure():
        optimizer.zero_grad()
        loss = -parameter.sum()
        loss.backward()
        return loss

    optimizer.step(closure)


# -- penalty -------------------------------------------------------------------------------------


def test_penalty_is_the_sum_over_all_units(network):
    expected = sum(unit.penalty().item() for unit in network.units())
    assert nalm.penalty(network).item() == pytest.approx(expected)


def test_penalty_of_a_single_unit_is_its_own():
    unit = unit_with(nalm.NAU, [[0.9, -0.2]])
    assert nalm.penalty(unit).item() == pytest.approx((0.1 + 0.2) / 2)


def test_penalty_is_zero_at_discrete_weights():
    model = nn.Sequential(unit_with(nalm.NAU, [[1.0, -1.0], [0.0, 1.0]]), unit_with(nalm.NMU, [[1.0, 0.0]]))
    assert nalm.penalty(model).item() == 0


def test_penalty_reaches_the_weights_of_units_and_no_others(network):
    nalm.penalty(network).backward()
    assert network.sums[0].weight.grad.abs().sum() > 0
    assert network.named["product"].weight.grad.abs().sum() > 0
    assert network.before.weight.grad is None


@pytest.mark.parametrize("batch", [(3,), (2, 3)])
def test_penalty_has_one_value_per_model(batch):
    model = nn.Sequential(nalm.NAU(2, 2, batch_shape=batch), nalm.NMU(2, 1, batch_shape=batch))
    assert nalm.penalty(model).shape == batch
    assert torch.equal(nalm.penalty(model), model[0].penalty() + model[1].penalty())


def test_a_unit_used_twice_counts_once():
    unit = nalm.NAU(2, 2)
    assert torch.equal(nalm.penalty(nn.Sequential(unit, unit)), unit.penalty())


# -- project_ ------------------------------------------------------------------------------------


def test_project_moves_weights_to_the_nearest_admissible_ones(network):
    with torch.no_grad():
        network.sums[0].weight.copy_(torch.tensor([[-3.0, 0.25, 3.0], [-1.0, 0.0, 1.0]]))
        network.named["product"].weight.copy_(torch.tensor([[-3.0, 0.25, 3.0, 1.0], [-0.1, 0.0, 1.1, 1.0]]))
    nalm.project_(network)
    assert network.sums[0].weight.tolist() == [[-1, 0.25, 1], [-1, 0, 1]]
    assert network.named["product"].weight.tolist() == [[0, 0.25, 1, 1], [0, 0, 1, 1]]


def test_project_changes_nothing_but_bounded_units(network):
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(100)
    before = state_of(network)
    nalm.project_(network)
    changed = [name for name, value in state_of(network).items() if not torch.equal(value, before[name])]
    assert changed == ["sums.0.weight", "named.product.weight"]


# -- attach --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "optimiser",
    [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.LBFGS],
)
def test_attach_projects_after_each_step_of_any_optimiser(optimiser):
    unit = nalm.NMU(2, 1)
    optimizer = optimiser(unit.parameters(), lr=50.0)
    nalm.attach(unit, optimizer)
    for _ in range(2):
        step_upwards(optimizer, unit.weight)
        assert unit.weight.tolist() == [[1.0, 1.0]]


def test_without_attach_a_step_leaves_the_admissible_set():
    unit = nalm.NMU(2, 1)
    step_upwards(torch.optim.SGD(unit.parameters(), lr=50.0), unit.weight)
    assert (unit.weight > 1).all()


def test_remove_ends_the_projection():
    unit = nalm.NMU(2, 1)
    optimizer = torch.optim.SGD(unit.parameters(), lr=50.0)
    handle = nalm.attach(unit, optimizer)
    step_upwards(optimizer, unit.weight)
    handle.remove()
    step_upwards(optimizer, unit.weight)
    assert unit.weight.tolist() == [[51.0, 51.0]]


def test_attach_itself_does_not_move_weights():
    unit = unit_with(nalm.NAU, [[5.0, -5.0]])
    nalm.attach(unit, torch.optim.SGD(unit.parameters(), lr=0.1))
    assert unit.weight.tolist() == [[5.0, -5.0]]


def test_attach_projects_the_units_of_a_users_network(network):
    optimizer = torch.optim.SGD(network.parameters(), lr=50.0)
    nalm.attach(network, optimizer)
    network(torch.rand(8, 4)).sum().backward()
    optimizer.step()
    assert (network.sums[0].weight.abs() <= 1).all()
    assert ((network.named["product"].weight >= 0) & (network.named["product"].weight <= 1)).all()


# -- snap_ ---------------------------------------------------------------------------------------


def test_snap_moves_to_the_nearest_discrete_values():
    unit = unit_with(nalm.NAU, [[0.9, -0.8, 0.3], [-0.4, 1.2, 0.0]])
    nalm.snap_(unit)
    assert unit.weight.tolist() == [[1, -1, 0], [0, 1, 0]]


def test_snap_returns_the_largest_move():
    model = nn.Sequential(unit_with(nalm.NAU, [[0.9, -0.8], [0.3, 1.0]]), unit_with(nalm.NMU, [[0.9, 0.4]]))
    assert float(nalm.snap_(model)) == pytest.approx(0.4)


def test_snap_counts_the_moves_of_gates():
    unit = nalm.RealNPU(2, 1)
    unit.ideal_("mul")
    with torch.no_grad():
        unit.gate.copy_(torch.tensor([0.7, 1.0]))
    assert float(nalm.snap_(unit)) == pytest.approx(0.3)
    assert unit.gate.tolist() == [1, 1]


def test_snap_of_powers_keeps_whole_numbers_and_halves():
    unit = nalm.RealNPU(4, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[0.45, -0.9, 2.1, 0.2]]))
    nalm.snap_(unit)
    assert unit.weight.tolist() == [[0.5, -1, 2, 0]]


def test_snap_measures_effective_weights_not_raw_ones():
    unit = nalm.NAC(2, 1)
    with torch.no_grad():
        unit.w_hat.fill_(6.0)
        unit.m_hat.fill_(6.0)
    before = unit.weights()["W"].clone()
    assert float(nalm.snap_(unit)) == pytest.approx((1 - before.min()).item(), rel=1e-3)
    assert unit.weights()["W"].tolist() == [[1, 1]]


@pytest.mark.parametrize("unit", UNITS)
def test_snapped_weights_are_exactly_discrete(unit):
    made = UNITS[unit](4, 3, batch_shape=(2,))
    nalm.snap_(made)
    for value in (*made.weights().values(), *made.gates().values()):
        assert torch.equal(2 * value, (2 * value).round())


def test_snap_treats_every_unit_of_a_network_and_no_other_layer(network):
    others = state_of(network.before), state_of(network.after)
    nalm.snap_(network)
    assert all(float(nalm.snap_(unit)) == 0 for unit in network.units())
    assert same(others[0], state_of(network.before))
    assert same(others[1], state_of(network.after))


def test_snap_a_second_time_changes_nothing(network):
    assert float(nalm.snap_(network)) > 0
    snapped = state_of(network)
    assert float(nalm.snap_(network)) == 0
    assert same(snapped, state_of(network))


@settings(max_examples=50, deadline=None)
@given(weight=MATRIX)
def test_snap_twice_is_snap_once_for_any_weights(weight):
    for cls in (nalm.NAU, nalm.NMU):
        unit = unit_with(cls, weight)
        nalm.snap_(unit)
        once = unit.weight.clone()
        assert float(nalm.snap_(unit)) == 0
        assert torch.equal(unit.weight, once)


def test_a_snapped_network_still_trains(network):
    nalm.snap_(network)
    network(torch.rand(8, 4)).sum().backward()
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in network.parameters())


# -- sparsity_error ------------------------------------------------------------------------------


def test_sparsity_error_is_the_largest_distance_of_any_unit():
    model = nn.Sequential(unit_with(nalm.NAU, [[0.9, -0.8], [1.0, 0.0]]), unit_with(nalm.NMU, [[0.7, 1.0]]))
    assert nalm.sparsity_error(model).item() == pytest.approx(0.3)


@pytest.mark.parametrize("unit", UNITS)
def test_sparsity_error_is_zero_at_ideal_weights(unit):
    made = UNITS[unit](3, 2)
    made.ideal_(made.ops[0], 0, 2)
    assert nalm.sparsity_error(made, gates=True, biases=True).item() == 0


def test_gates_count_only_when_asked():
    unit = nalm.RealNPU(2, 1)
    unit.ideal_("mul")
    with torch.no_grad():
        unit.gate.copy_(torch.tensor([1.0, 0.6]))
    assert nalm.sparsity_error(unit).item() == 0
    assert nalm.sparsity_error(unit, gates=True).item() == pytest.approx(0.4)


@pytest.mark.parametrize(("unit", "bias"), [("linear", "bias"), ("quadratic", "d")])
def test_biases_count_only_when_asked(unit, bias):
    made = UNITS[unit](2, 1)
    made.ideal_("add")
    with torch.no_grad():
        getattr(made, bias).fill_(0.3)
    assert nalm.sparsity_error(made).item() == 0
    assert nalm.sparsity_error(made, biases=True).item() == pytest.approx(0.3)


@pytest.mark.parametrize("unit", UNITS)
def test_biases_are_among_the_weights(unit):
    assert set(UNITS[unit].bias_names) <= set(UNITS[unit](3, 2).weights())


@pytest.mark.parametrize("gates", [False, True])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
def test_sparsity_error_has_one_value_per_model(batch, gates):
    model = nn.Sequential(nalm.NAU(2, 2, batch_shape=batch), nalm.RealNPU(2, 1, batch_shape=batch))
    assert nalm.sparsity_error(model, gates=gates).shape == batch


def test_sparsity_error_of_a_batch_is_that_of_each_model():
    unit = unit_with(nalm.NAU, [[[0.9, 0.0]], [[1.0, -0.6]]])
    assert nalm.sparsity_error(unit).tolist() == pytest.approx([0.1, 0.4])


# -- wrong arguments -----------------------------------------------------------------------------


HELPERS = [nalm.project_, nalm.snap_, nalm.sparsity_error]


@pytest.mark.parametrize("helper", HELPERS, ids=lambda helper: helper.__name__)
@pytest.mark.parametrize("model", [nn.Linear(2, 1), nn.Sequential(), None], ids=repr)
def test_a_model_without_units_is_refused(helper, model):
    with pytest.raises(nalm.ArgumentError, match=f"`model` .* units, but got {type(model).__name__}"):
        helper(model)


@pytest.mark.parametrize("model", [nn.Linear(2, 1).double(), nn.Sequential()], ids=repr)
def test_the_penalty_of_a_model_without_units_is_zero(model):
    found = nalm.penalty(model)
    assert found.item() == 0
    assert found.shape == ()
    assert found.dtype == next((p.dtype for p in model.parameters()), torch.float32)


def test_the_penalty_of_what_is_no_module_is_refused():
    with pytest.raises(nalm.ArgumentError, match=r"`model` .* units, but got NoneType"):
        nalm.penalty(None)


def test_attach_refuses_a_model_without_units():
    model = nn.Linear(2, 1)
    with pytest.raises(nalm.ArgumentError, match="`model`"):
        nalm.attach(model, torch.optim.SGD(model.parameters(), lr=0.1))


@pytest.mark.parametrize("optimizer", [None, AdamRecipe(), torch.optim.Adam], ids=["none", "recipe", "class"])
def test_attach_refuses_what_is_no_optimizer(optimizer):
    with pytest.raises(nalm.ArgumentError, match=r"`optimizer` must be a torch\.optim\.Optimizer"):
        nalm.attach(nalm.NAU(2, 1), optimizer)


def test_a_copied_network_is_independent(network):
    copied = copy.deepcopy(network)
    before = state_of(network)
    nalm.snap_(copied)
    assert same(before, state_of(network))


# -- weights that torch computes from others -----------------------------------------------------


class Twice(nn.Module):
    """A parametrization with an inverse."""

    def forward(self, w):
        return 2 * w

    def right_inverse(self, w):
        return w / 2


class Ninth(nn.Module):
    """A parametrization without an inverse."""

    def forward(self, w):
        return 0.9 * w


class Unmoved(Twice):
    """A parametrization that claims an inverse and has none."""

    def right_inverse(self, w):
        return w


def parametrized(parametrization, weight, cls=nalm.NMU):
    unit = unit_with(cls, weight)
    parametrize.register_parametrization(unit, "weight", parametrization)
    return unit


def test_parametrized_weights_are_snapped():
    model = nn.Sequential(parametrized(Twice(), [[0.8, 0.3]]))
    assert float(nalm.snap_(model)) == pytest.approx(0.3)
    assert model[0].weight.tolist() == [[1, 0]]
    assert parametrize.is_parametrized(model[0], "weight")


def test_parametrized_weights_are_projected_after_a_step():
    unit = parametrized(Twice(), [[0.8, 0.3]])
    optimizer = torch.optim.SGD(unit.parameters(), lr=50.0)
    nalm.attach(unit, optimizer)
    step_upwards(optimizer, unit.parametrizations.weight.original)
    assert unit.weight.tolist() == [[1, 1]]


def test_penalty_and_sparsity_are_those_of_the_weights_that_are_used():
    unit = parametrized(Ninth(), [[1.0, 0.0]])
    assert nalm.penalty(unit).item() == pytest.approx(0.05)
    assert nalm.sparsity_error(unit).item() == pytest.approx(0.1)


@pytest.mark.parametrize(("kind", "why"), [(Ninth, "no `right_inverse`"), (Unmoved, "keeps 1 away")])
def test_weights_that_cannot_be_set_are_refused_and_nothing_is_changed(kind, why):
    model = nn.Sequential(unit_with(nalm.NAU, [[0.9, 0.2], [0.1, 0.8]]), parametrized(kind(), [[0.8, 0.3]]))
    before = state_of(model)
    with pytest.raises(nalm.ArgumentError, match=f"`weight` of a NMU.*{why}"):
        nalm.snap_(model)
    assert same(before, state_of(model))


def test_pruned_weights_are_not_snapped_in_vain():
    unit = unit_with(nalm.NMU, [[0.8, 0.3]])
    prune.l1_unstructured(unit, "weight", amount=1)
    with pytest.raises(nalm.ArgumentError, match="a hook computes before every call"):
        nalm.snap_(unit)
    prune.remove(unit, "weight")
    nalm.snap_(unit)
    assert unit.weight.tolist() == [[1, 0]]
