"""Ordinary networks that the units are compared with."""

import math

import pytest
import torch
from torch import nn

import nalm
from nalm.models.baselines import (
    ACTIVATIONS,
    MLP,
    PRESETS,
    CReLU,
    FCProduct,
    SequenceModel,
    SolvedDiv,
    SolvedMul,
)
from nalm.tasks import SingleModule


def layer_sizes(model):
    return [(m.in_features, m.out_features) for m in model.modules() if isinstance(m, nn.Linear)]


# -- networks of linear layers -------------------------------------------------------------------


def test_crelu_has_the_positive_and_the_negative_part_side_by_side():
    got = CReLU()(torch.tensor([[1.5, -2.0, 0.0]]))
    assert got.tolist() == [[1.5, 0.0, 0.0, 0.0, 2.0, 0.0]]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_gives_outputs_and_gradients(activation):
    torch.manual_seed(0)
    model = MLP(3, 2, hidden=(16, 8), activation=activation)
    output = model(3 * torch.randn(50, 3))
    output.square().sum().backward()
    assert output.shape == (50, 2)
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_activation_stands_between_the_layers_only(activation):
    model = MLP(3, 2, hidden=(5, 4), activation=activation)
    kinds = [type(layer) for layer in model.layers]
    kind = ACTIVATIONS[activation]
    assert kinds == [nn.Linear, kind, nn.Linear, kind, nn.Linear]


def test_threshold_passes_what_is_above_zero():
    (threshold,) = (m for m in MLP(1, 1, activation="threshold").modules() if isinstance(m, nn.Threshold))
    assert threshold(torch.tensor([-1.0, 0.0, 0.5, 30.0])).tolist() == [0.0, 0.0, 0.5, 30.0]


def test_the_network_computes_its_layers_in_order():
    model = MLP(3, 2, hidden=(4,))
    first, last = model.layers[0], model.layers[2]
    input = torch.randn(5, 3)
    torch.testing.assert_close(model(input), last(first(input).relu()))


def test_the_layers_have_the_hidden_sizes():
    assert layer_sizes(MLP(3, 2, hidden=(5, 4))) == [(3, 5), (5, 4), (4, 2)]


def test_crelu_doubles_what_the_next_layer_sees():
    assert layer_sizes(MLP(3, 2, hidden=(5, 4), activation="crelu")) == [(3, 5), (10, 4), (8, 2)]


@pytest.mark.parametrize("activation", ["relu", "crelu"])
def test_without_hidden_layers_the_network_is_linear(activation):
    assert layer_sizes(MLP(3, 2, hidden=(), activation=activation)) == [(3, 2)]


def test_one_hidden_layer_of_eight_is_usual():
    assert layer_sizes(MLP(3, 2)) == [(3, 8), (8, 2)]


@pytest.mark.parametrize(
    ("preset", "sizes"),
    [
        ("mistry2023:1.4.1-narrow", [1]),
        ("mistry2023:1.4.1-wide", [100]),
        ("mistry2023:5.10.1", [256, 256]),
        ("mistry2023:7.2.1", [16, 16, 16, 16, 16]),
    ],
)
def test_presets_are_the_networks_of_the_thesis(preset, sizes):
    model = MLP(3, 2, hidden=preset)
    assert layer_sizes(model) == list(zip([3, *sizes], [*sizes, 2]))
    assert sum(isinstance(m, nn.ReLU) for m in model.modules()) == len(sizes)


def test_no_preset_is_left_untested():
    assert len(PRESETS) == 4


def test_layers_may_be_without_shifts():
    assert not MLP(3, 2, bias=False)(torch.zeros(1, 3)).any()
    assert all(p.dim() == 2 for p in MLP(3, 2, bias=False).parameters())


@pytest.mark.parametrize("activation", ["relu", "prelu"])
def test_every_parameter_has_the_precision_and_the_device(activation):
    model = MLP(3, 2, activation=activation, dtype=torch.float64, device="meta")
    assert {(p.dtype, p.device.type) for p in model.parameters()} == {(torch.float64, "meta")}


# -- products and quotients ----------------------------------------------------------------------


def test_the_fully_connected_product_multiplies_its_weighted_inputs():
    model = FCProduct(3, 2, dtype=torch.float64)
    input = torch.randn(5, 3, dtype=torch.float64)
    expected = torch.stack([(row * input).prod(-1) for row in model.weight], -1)
    torch.testing.assert_close(model(input), expected)


def test_the_fully_connected_product_starts_like_the_nmu():
    weight = FCProduct(100, 100).weight
    assert 0.25 <= weight.min() < 0.26
    assert 0.74 < weight.max() <= 0.75


def test_the_fully_connected_product_learns():
    model = FCProduct(3, 2)
    model(torch.rand(5, 3) + 1).sum().backward()
    assert model.weight.grad.all()


def test_the_solved_product_multiplies_all_inputs():
    assert SolvedMul()(torch.tensor([[2.0, -3.0, 4.0], [0.5, 1.0, 8.0]])).tolist() == [[-24.0], [4.0]]


def test_the_solved_quotient_divides_the_first_input_by_the_second():
    assert SolvedDiv()(torch.tensor([[6.0, -4.0], [1.0, 0.0]])).tolist() == [[-1.5], [math.inf]]


@pytest.mark.parametrize("inputs", [1, 3])
def test_the_solved_quotient_of_other_than_two_inputs_is_refused(inputs):
    with pytest.raises(nalm.ArgumentError, match="`input` must be of last dimension 2"):
        SolvedDiv()(torch.ones(5, inputs))


@pytest.mark.parametrize("solved", [SolvedMul(), SolvedDiv()])
def test_the_solved_models_have_nothing_to_learn(solved):
    assert list(solved.parameters()) == []


# -- sequences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "network"), [("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)])
@pytest.mark.parametrize("read", ["final", "summed"])
def test_a_sequence_model_reads_its_states(kind, network, read):
    model = SequenceModel(kind, 3, 2, hidden_size=5, read=read)
    input = torch.randn(4, 7, 3)
    states, _ = model.network(input)
    expected = model.output(states[:, 6] if read == "final" else sum(states[:, t] for t in range(7)))
    assert type(model.network) is network
    assert states.shape == (4, 7, 5)
    torch.testing.assert_close(model(input), expected)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_a_sequence_model_gives_an_output_for_each_sequence_and_gradients(kind):
    model = SequenceModel(kind, 3, 2)
    output = model(torch.randn(4, 7, 3))
    output.sum().backward()
    assert output.shape == (4, 2)
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())


def test_the_final_state_is_read_by_default():
    assert SequenceModel("lstm", 3, 2).read == "final"


def test_a_sequence_model_has_the_precision_and_the_device():
    model = SequenceModel("gru", 3, 2, dtype=torch.float64, device="meta")
    assert {(p.dtype, p.device.type) for p in model.parameters()} == {(torch.float64, "meta")}


# -- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: MLP(2, 1), lambda: MLP(2, 1, activation="prelu"), lambda: FCProduct(2, 1)]
)
def test_a_baseline_trains_with_the_engine(make):
    model = make()
    result = nalm.train(
        model,
        SingleModule("add"),
        nalm.Recipe(iterations=20),
        seeds=2,
        log_interval=10,
        compiled=False,
    )
    first, second = (result.model_of(run) for run in range(2))
    assert {name: p.shape for name, p in first.named_parameters()} == {
        name: p.shape for name, p in model.named_parameters()
    }
    assert all(p.isfinite().all() for p in (*first.parameters(), *second.parameters()))
    input = torch.rand(5, 2) + 1
    assert not torch.equal(first(input), second(input))


def test_training_makes_the_error_of_a_network_smaller():
    torch.manual_seed(0)
    model, task = MLP(2, 1, hidden=(8,)), SingleModule("add")
    input = torch.rand(100, 2) + 1
    before = (model(input) - input.sum(-1, keepdim=True)).square().mean()
    nalm.train(model, task, nalm.Recipe(iterations=200), log_interval=100, compiled=False)
    after = (model(input) - input.sum(-1, keepdim=True)).square().mean()
    assert after < before / 2


# -- wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "argument", "close"),
    [
        (lambda: MLP(3, 2, activation="reluu"), "activation", "relu"),
        (lambda: MLP(3, 2, hidden="mistry2023:5.10"), "hidden", "mistry2023:5.10.1"),
        (lambda: SequenceModel("lstmm", 3, 2), "kind", "lstm"),
        (lambda: SequenceModel("lstm", 3, 2, read="sum"), "read", "summed"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest(make, argument, close):
    with pytest.raises(nalm.ArgumentError, match=f"`{argument}` must be one of .* Did you mean '{close}'"):
        make()


@pytest.mark.parametrize("size", [0, -1, 1.5])
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda size: MLP(size, 2), "in_features"),
        (lambda size: MLP(3, size), "out_features"),
        (lambda size: MLP(3, 2, hidden=(4, size)), "hidden"),
        (lambda size: FCProduct(size, 2), "in_features"),
        (lambda size: FCProduct(3, size), "out_features"),
        (lambda size: SequenceModel("gru", size, 2), "in_features"),
        (lambda size: SequenceModel("gru", 3, size), "out_features"),
        (lambda size: SequenceModel("gru", 3, 2, hidden_size=size), "hidden_size"),
    ],
)
def test_sizes_that_are_not_positive_are_refused(make, argument, size):
    with pytest.raises(nalm.ArgumentError, match=f"`{argument}` must be a positive whole number"):
        make(size)
