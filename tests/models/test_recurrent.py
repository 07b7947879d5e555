"""Units in time: a cell computes what its unit does, and a sequence of cells behaves like `nn.RNN`."""

import copy
import pickle

import pytest
import torch
from torch import nn

import nalm
from nalm.units import UNITS


def ideal_cell(unit, op, start):
    """A cell in double precision that joins each input to its state by one operation."""
    cell = nalm.Cell(unit, 1, 1, start=start, dtype=torch.float64)
    cell.unit.ideal_(op, 0, 1)
    return cell


def numbers(*shape):
    return torch.empty(shape, dtype=torch.float64).uniform_(-2, 2, generator=torch.Generator().manual_seed(0))


def round_trip_by_state_dict(model):
    fresh = nalm.Recurrent(nalm.Cell("nalu", 2, 3, start=1.0))
    fresh.load_state_dict(model.state_dict())
    return fresh


# -- one step ------------------------------------------------------------------------------------


def test_a_cell_is_its_unit_applied_to_input_and_state_side_by_side():
    cell = nalm.Cell(nn.Linear(5, 3), 2, 3)
    input, state = torch.randn(4, 2), torch.randn(4, 3)
    assert torch.equal(cell(input, state), cell.unit(torch.cat([input, state], -1)))


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_may_be_a_cell_by_name(name):
    cell = nalm.Cell(name, 2, 3)
    assert type(cell.unit) is UNITS[name]
    assert (cell.unit.in_features, cell.unit.out_features) == (5, 3)
    assert cell(torch.ones(4, 2)).shape == (4, 3)


def test_options_in_the_name_reach_the_unit():
    assert not nalm.Cell("nalu(shared=false)", 2, 3).unit.shared


def test_a_stack_has_as_many_values_between_its_layers_as_the_state():
    cell = nalm.Cell("nau+nmu", 2, 3)
    assert [(layer.in_features, layer.out_features) for layer in cell.unit] == [(5, 3), (3, 3)]


def test_a_module_is_taken_as_it_is():
    unit = nn.Sequential(nalm.NAU(5, 2), nalm.NMU(2, 3))
    assert nalm.Cell(unit, 2, 3).unit is unit


def test_a_unit_given_by_name_has_the_precision_and_the_device():
    (weight,) = nalm.Cell("nmu", 2, 3, dtype=torch.float64, device="meta").parameters()
    assert (weight.dtype, weight.device.type) == (torch.float64, "meta")


@pytest.mark.parametrize("start", [0.0, 1.0, -2.5])
def test_the_first_state_is_the_start(start):
    cell = nalm.Cell("nau", 2, 3, start=start)
    input = torch.randn(4, 2)
    assert torch.equal(cell.initial_state(input), torch.full((4, 3), start))
    assert torch.equal(cell(input), cell(input, torch.full((4, 3), start)))


def test_the_first_state_has_the_precision_of_the_input():
    assert nalm.Cell("nau", 2, 3).initial_state(torch.ones(2, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize("leading", [(), (4,), (5, 4)])
def test_a_step_keeps_the_leading_dimensions(leading):
    assert nalm.Cell("nmu", 2, 3)(torch.ones(*leading, 2)).shape == (*leading, 3)


@pytest.mark.parametrize("name", ["nau", "nmu", "nalu", "nau+nmu"])
def test_the_gradient_reaches_the_parameters_of_the_unit(name):
    cell = nalm.Cell(name, 2, 3)
    cell(torch.rand(4, 2) + 1, torch.rand(4, 3) + 1).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in cell.unit.parameters())


def test_the_sizes_and_the_start_are_shown():
    assert "input_size=2, state_size=3, start=1.0" in repr(nalm.Cell("nmu", 2, 3, start=1))


# -- wrong cells and steps -----------------------------------------------------------------------


@pytest.mark.parametrize("unit", [nalm.NAU(4, 3), nalm.NAU(5, 2), nn.Linear(2, 3)])
def test_a_module_of_other_sizes_is_refused(unit):
    with pytest.raises(nalm.ArgumentError, match="`unit` must be from 5 inputs to 3 outputs"):
        nalm.Cell(unit, 2, 3)


def test_a_module_that_gives_another_size_than_the_state_is_refused():
    with pytest.raises(nalm.ArgumentError, match="`unit` must be"):
        nalm.Cell(nn.Sequential(nalm.NAU(5, 4)), 2, 3)(torch.ones(4, 2))


@pytest.mark.parametrize("unit", [None, 5, nalm.NAU])
def test_what_is_neither_a_name_nor_a_module_is_refused(unit):
    with pytest.raises(nalm.ArgumentError, match="`unit` must be"):
        nalm.Cell(unit, 2, 3)


def test_an_unknown_unit_is_refused_with_the_nearest():
    with pytest.raises(nalm.ArgumentError, match="Did you mean 'nalu'"):
        nalm.Cell("naluu", 2, 3)


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_sizes_that_are_not_positive_are_refused(size):
    with pytest.raises(nalm.ArgumentError, match="`input_size` must be a positive whole number"):
        nalm.Cell("nau", size, 3)
    with pytest.raises(nalm.ArgumentError, match="`state_size` must be a positive whole number"):
        nalm.Cell("nau", 2, size)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4), (1,), ()])
def test_input_of_another_size_is_refused(shape):
    with pytest.raises(nalm.ArgumentError, match="`input` must be of last dimension 2"):
        nalm.Cell("nau", 2, 3)(torch.ones(shape))


@pytest.mark.parametrize("shape", [(4, 2), (3,), (1, 3), (1, 4, 3)])
def test_a_state_of_another_shape_is_refused(shape):
    with pytest.raises(nalm.ArgumentError, match=r"`state` must be of shape \(4, 3\)"):
        nalm.Cell("nau", 2, 3)(torch.ones(4, 2), torch.ones(shape))


# -- sequences -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [False, True], ids=["from the start", "from a state"])
@pytest.mark.parametrize(
    ("shape", "state", "batch_first"),
    [
        ((7, 2), (1, 3), False),
        ((7, 2), (1, 3), True),
        ((7, 4, 2), (1, 4, 3), False),
        ((4, 7, 2), (1, 4, 3), True),
    ],
)
def test_shapes_are_those_of_nn_rnn(shape, state, batch_first, given):
    arguments = (torch.ones(shape), torch.ones(state)) if given else (torch.ones(shape),)
    outputs, last = nalm.Recurrent(nalm.Cell("nau", 2, 3), batch_first=batch_first)(*arguments)
    expected_outputs, expected_last = nn.RNN(2, 3, batch_first=batch_first)(*arguments)
    assert outputs.shape == expected_outputs.shape
    assert last.shape == expected_last.shape


def test_a_running_product_is_exact():
    input = numbers(50, 4, 1)
    outputs, last = nalm.Recurrent(ideal_cell("nmu", "mul", 1))(input)
    assert torch.equal(outputs, input.cumprod(0))
    assert torch.equal(last[0], outputs[-1])


def test_a_running_sum_is_exact():
    input = numbers(50, 4, 1)
    outputs, last = nalm.Recurrent(ideal_cell("nau", "add", 0))(input)
    assert torch.equal(outputs, input.cumsum(0))
    assert torch.equal(last[0], outputs[-1])


def test_the_outputs_are_the_states_after_each_step():
    cell = nalm.Cell("nalu", 2, 3, start=1.0)
    input = torch.rand(5, 4, 2) + 1
    outputs, last = nalm.Recurrent(cell)(input)
    state = None
    for step, output in zip(input, outputs, strict=True):
        state = cell(step, state)
        assert torch.equal(output, state)
    assert torch.equal(last[0], state)


def test_a_sequence_may_go_on_from_its_last_state():
    model = nalm.Recurrent(ideal_cell("nmu", "mul", 1))
    input = numbers(10, 4, 1)
    first, middle = model(input[:6])
    second, last = model(input[6:], middle)
    whole, whole_last = model(input)
    assert torch.equal(torch.cat([first, second]), whole)
    assert torch.equal(last, whole_last)


def test_batch_first_only_moves_the_batch():
    cell = nalm.Cell("nalu", 2, 3)
    input = torch.rand(5, 4, 2)
    outputs, last = nalm.Recurrent(cell)(input)
    moved, moved_last = nalm.Recurrent(cell, batch_first=True)(input.transpose(0, 1))
    assert torch.equal(moved, outputs.transpose(0, 1))
    assert torch.equal(moved_last, last)


def test_a_sequence_alone_has_the_states_it_has_in_a_batch():
    model = nalm.Recurrent(nalm.Cell("nau", 2, 3, start=1.0))
    input = torch.rand(5, 4, 2)
    torch.testing.assert_close(model(input[:, 2])[0], model(input)[0][:, 2])


def test_the_gradient_of_the_last_state_reaches_the_first_input():
    input = numbers(50, 1).requires_grad_()
    outputs, last = nalm.Recurrent(ideal_cell("nmu", "mul", 1))(input)
    last.sum().backward()
    torch.testing.assert_close(input.grad, (outputs[-1] / input).detach())


# -- wrong sequences -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3), (1, 3), (1, 5, 3), (1, 4, 2)])
def test_an_initial_state_of_another_shape_is_refused(shape):
    model = nalm.Recurrent(nalm.Cell("nau", 2, 3))
    with pytest.raises(nalm.ArgumentError, match="`state` must be of shape"):
        model(torch.ones(7, 4, 2), torch.ones(shape))


@pytest.mark.parametrize(("shape", "batch_first"), [((0, 2), False), ((0, 4, 2), False), ((4, 0, 2), True)])
def test_an_empty_sequence_is_refused(shape, batch_first):
    model = nalm.Recurrent(nalm.Cell("nau", 2, 3), batch_first=batch_first)
    with pytest.raises(nalm.ArgumentError, match="`input` must be a sequence of at least one step"):
        model(torch.ones(shape))


@pytest.mark.parametrize("shape", [(2,), (1, 7, 4, 2)])
def test_input_that_is_no_sequence_is_refused(shape):
    with pytest.raises(nalm.ArgumentError, match="`input` must be of two or three dimensions"):
        nalm.Recurrent(nalm.Cell("nau", 2, 3))(torch.ones(shape))


def test_only_a_cell_is_applied_to_a_sequence():
    with pytest.raises(nalm.ArgumentError, match=r"`cell` must be a nalm\.Cell, but got NAU"):
        nalm.Recurrent(nalm.NAU(2, 1))


# -- tools of torch ------------------------------------------------------------------------------


def test_the_compiled_model_computes_the_same():
    model = nalm.Recurrent(nalm.Cell("nau+nmu", 2, 3, start=1.0))
    input = torch.rand(5, 4, 2)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)(input)
    for got, expected in zip(compiled, model(input), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), round_trip_by_state_dict]
)
def test_a_copy_computes_the_same(copied):
    model = nalm.Recurrent(nalm.Cell("nalu", 2, 3, start=1.0))
    input = torch.rand(5, 4, 2)
    twin = copied(model)
    assert torch.equal(twin(input)[0], model(input)[0])
    assert not {id(p) for p in twin.parameters()} & {id(p) for p in model.parameters()}
