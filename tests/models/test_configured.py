"""A unit configured by an LSTM: each sample has the unit that its linear maps describe."""

import copy
import pickle

import pytest
import torch
from torch.func import functional_call

import nalm
from nalm.units import UNITS

CONTROL, INPUTS, OUTPUTS, HIDDEN, BATCH = 3, 4, 2, 5, 6
SOME = ["nalu", "nau", "snmu"]


def configured(unit, **options):
    torch.manual_seed(0)
    return nalm.ConfiguredByLSTM(unit, CONTROL, INPUTS, OUTPUTS, hidden_size=HIDDEN, **options)


def step_data(batch=BATCH, dtype=None):
    generator = torch.Generator().manual_seed(1)
    control = torch.randn(batch, CONTROL, generator=generator, dtype=dtype)
    return control, torch.rand(batch, INPUTS, generator=generator, dtype=dtype) + 0.5


def one_by_one(model, unit, hidden, input):
    """The output of a unit of its own for every sample, with the parameters that the linear maps give."""
    rows = []
    for state, values in zip(hidden, input, strict=True):
        parameters = {
            name: model.configure[name](state).reshape(parameter.shape)
            for name, parameter in unit.named_parameters()
        }
        rows.append(functional_call(unit, parameters, (values[None],)))
    return torch.cat(rows)


def round_trip_by_state_dict(model):
    torch.manual_seed(7)
    fresh = nalm.ConfiguredByLSTM("nalu", CONTROL, INPUTS, OUTPUTS, hidden_size=HIDDEN).eval()
    fresh.load_state_dict(model.state_dict())
    return fresh


# -- what is computed ----------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
def test_each_sample_has_a_unit_of_its_own(unit):
    model = configured(unit, dtype=torch.float64).eval()
    control, input = step_data(dtype=torch.float64)
    output, (hidden, _) = model(control, input)
    single = UNITS[unit](INPUTS, OUTPUTS, dtype=torch.float64).eval()
    assert output.shape == (BATCH, OUTPUTS)
    torch.testing.assert_close(output, one_by_one(model, single, hidden, input))


@pytest.mark.parametrize("unit", ["nalu", "nau", "nru"])
def test_each_sample_has_a_unit_of_its_own_while_training(unit):
    model = configured(unit, dtype=torch.float64).train()
    control, input = step_data(dtype=torch.float64)
    output, (hidden, _) = model(control, input)
    single = UNITS[unit](INPUTS, OUTPUTS, dtype=torch.float64).train()
    torch.testing.assert_close(output, one_by_one(model, single, hidden, input))


def test_each_sample_has_noise_of_its_own_while_training():
    model = configured("snmu").train()
    control, input = step_data()
    torch.manual_seed(3)
    output, (hidden, _) = model(control, input)
    torch.manual_seed(3)
    expected = one_by_one(model, nalm.SNMU(INPUTS, OUTPUTS, device="meta").train(), hidden, input)
    torch.testing.assert_close(output, expected)


def test_noise_is_drawn_while_training_and_not_in_evaluation():
    model, data = configured("snmu"), step_data()
    assert not torch.equal(model.train()(*data)[0], model(*data)[0])
    assert torch.equal(model.eval()(*data)[0], model(*data)[0])


def test_options_in_the_name_reach_the_unit():
    assert len(configured("nalu(shared=false)").configure) > len(configured("nalu").configure)


def test_samples_do_not_see_each_other():
    model = configured("nalu").eval()
    control, input = step_data()
    torch.testing.assert_close(model(control[2:3], input[2:3])[0], model(control, input)[0][2:3])


@pytest.mark.parametrize("unit", SOME)
def test_an_untrained_module_starts_where_the_unit_would(unit):
    model = configured(unit)
    unit = UNITS[unit](INPUTS, OUTPUTS)
    for name, linear in model.configure.items():
        uniform = torch.linspace(0, 1, 1001)
        bounds = unit.initialisers[name](uniform)
        assert linear.bias.unique().numel() > 1
        assert bounds.min() <= linear.bias.min()
        assert linear.bias.max() <= bounds.max()


def test_resetting_draws_every_parameter_anew():
    model = configured("nalu")
    before = copy.deepcopy(model.state_dict())
    model.reset_parameters()
    assert not any(torch.equal(value, before[name]) for name, value in model.state_dict().items())


# -- state ---------------------------------------------------------------------------------------


def test_the_state_is_that_of_the_lstm():
    model = configured("nau")
    control, input = step_data()
    _, first = model(control, input)
    _, second = model(control, input, first)
    expected = model.lstm(control, model.lstm(control))
    assert all(torch.equal(got, wanted) for got, wanted in zip(second, expected, strict=True))


def test_the_output_depends_on_the_state_that_is_carried():
    model = configured("nau")
    control, input = step_data()
    output, state = model(control, input)
    assert not torch.allclose(model(control, input, state)[0], output)


# -- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("unit", SOME)
def test_gradients_reach_the_lstm_and_the_linear_maps(unit, training):
    model = configured(unit).train(training)
    control, input = step_data()
    output, state = model(control, input)
    model(control, input, state)[0].square().sum().backward()
    assert output.isfinite().all()
    missing = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert missing == []


@pytest.mark.parametrize("unit", SOME)
def test_only_the_lstm_and_the_linear_maps_are_learnt(unit):
    model = configured(unit)
    inside = {f"configure.{name}.{kind}" for name in model.configure for kind in ("weight", "bias")}
    outside = {f"lstm.{kind}_{side}h" for kind in ("weight", "bias") for side in "ih"}
    assert {name for name, _ in model.named_parameters()} == inside | outside
    assert set(model.state_dict()) == inside | outside
    assert not any(isinstance(module, nalm.Unit) for module in model.modules())


def test_an_lstm_learns_to_choose_the_sign():
    torch.manual_seed(0)
    model = nalm.ConfiguredByLSTM("nau", 1, 2, 1, hidden_size=8)
    control = torch.tensor([1.0, -1.0]).repeat(32)[:, None]
    input = torch.rand(64, 2)
    target = input[:, :1] + control * input[:, 1:]
    optimiser = torch.optim.Adam(model.parameters(), 0.03)
    for _ in range(300):
        optimiser.zero_grad()
        loss = (model(control, input)[0] - target).square().mean()
        loss.backward()
        optimiser.step()
    assert loss < 1e-4


# -- tools of torch ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), round_trip_by_state_dict]
)
def test_a_copy_computes_the_same(copied):
    model = configured("nalu").eval()
    data = step_data()
    assert torch.equal(copied(model)(*data)[0], model(*data)[0])


@pytest.mark.parametrize("unit", SOME)
def test_the_precision_may_be_changed_later(unit):
    model = configured(unit).double().eval()
    output, _ = model(*step_data(dtype=torch.float64))
    assert output.dtype == torch.float64


def test_parameters_have_the_device():
    assert {p.device.type for p in configured("nalu", device="meta").parameters()} == {"meta"}


# -- wrong arguments -----------------------------------------------------------------------------


def test_a_stack_is_refused():
    with pytest.raises(nalm.ArgumentError, match=r"`unit` must be one unit, but got 'nau\+nmu'"):
        configured("nau+nmu")


def test_an_unknown_unit_is_refused_with_the_nearest():
    with pytest.raises(nalm.ArgumentError, match="Did you mean 'nalu'"):
        configured("naluu")


@pytest.mark.parametrize("name", ["control_size", "in_features", "out_features", "hidden_size"])
def test_sizes_that_are_not_positive_are_refused(name):
    sizes = {"control_size": 3, "in_features": 4, "out_features": 2, "hidden_size": 5, name: 0}
    with pytest.raises(nalm.ArgumentError, match=f"`{name}` must be a positive whole number"):
        nalm.ConfiguredByLSTM("nau", **sizes)


def test_input_of_another_size_is_refused():
    control, input = step_data()
    with pytest.raises(nalm.ArgumentError, match="`input`"):
        configured("nau")(control, input[:, :3])
