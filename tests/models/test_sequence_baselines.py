"""Recurrent networks in place of a cell, and all baselines by the names that commands know them by."""

import pickle

import pytest
import torch
from torch import nn

import nalm
from nalm.models import ModelSpec
from nalm.models.agents import Nothing
from nalm.models.baselines import MLP, FCProduct, SolvedAdd, SolvedDiv, SolvedMul
from nalm.models.configured_sequence import ConfiguredNALU, ConfiguredNAU
from nalm.models.named_baselines import BASELINES
from nalm.models.pair_cnn import PairCNN
from nalm.models.sequence_baselines import GRU, LSTM, DNCBaseline, ReLURNN, TanhRNN, UGRNNBaseline
from nalm.recipes import Recipe
from nalm.units import UNITS

NETWORKS = {LSTM: nn.LSTM, GRU: nn.GRU, TanhRNN: nn.RNN, ReLURNN: nn.RNN}


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


# -- recurrent networks --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NETWORKS)
def test_every_state_is_read_out(kind):
    model = kind(5, 2, hidden_size=4)
    x = torch.randn(3, 6, 3)
    states, _ = model.network(x)
    assert type(model.network) is NETWORKS[kind]
    assert model(x).shape == (3, 6, 2)
    torch.testing.assert_close(model(x), model.output(states))


@pytest.mark.parametrize(("kind", "function"), [(TanhRNN, torch.tanh), (ReLURNN, torch.relu)])
def test_elmans_network_has_its_function(kind, function):
    model = kind(4, 1, hidden_size=5)
    x, h = torch.randn(2, 3, 3), torch.zeros(2, 5)
    held = model.network
    for t in range(3):
        h = function(
            x[:, t] @ held.weight_ih_l0.T + held.bias_ih_l0 + h @ held.weight_hh_l0.T + held.bias_hh_l0
        )
    torch.testing.assert_close(model(x)[:, -1], model.output(h))


@pytest.mark.parametrize("kind", NETWORKS)
def test_an_output_depends_on_what_came_before_it_alone(kind):
    model, x = kind(3, 1), torch.randn(1, 5, 2)
    changed = x.clone()
    changed[:, 3:] += 1
    ours, theirs = model(x), model(changed)
    assert torch.equal(ours[:, :3], theirs[:, :3])
    assert not torch.equal(ours[:, 3], theirs[:, 3])


@pytest.mark.parametrize("kind", NETWORKS)
def test_sizes_count_the_outputs_as_a_cell_counts_its_state(kind):
    model = kind(20, 10)
    assert (model.in_features, model.out_features) == (20, 10)
    assert (model.network.input_size, model.network.hidden_size) == (10, 32)
    with pytest.raises(nalm.ArgumentError, match="`in_features - out_features` must be a positive whole"):
        kind(2, 2)
    with pytest.raises(nalm.ArgumentError, match="`hidden_size` must be a positive whole"):
        kind(2, 1, hidden_size=0)


# -- names ---------------------------------------------------------------------------------------

NAMED = {
    "lstm": LSTM,
    "gru": GRU,
    "rnn-tanh": TanhRNN,
    "rnn-relu": ReLURNN,
    "ugrnn": UGRNNBaseline,
    "dnc": DNCBaseline,
    "configured-nalu": ConfiguredNALU,
    "configured-nau": ConfiguredNAU,
    "mlp": MLP,
    "fc-product": FCProduct,
    "pair-cnn": PairCNN,
    "add": SolvedAdd,
    "mul": SolvedMul,
    "div": SolvedDiv,
    "none": Nothing,
}


@pytest.mark.parametrize(("name", "kind"), NAMED.items())
def test_a_baseline_is_built_by_its_name(name, kind):
    spec = ModelSpec.parse(name)
    assert type(spec.build(2, 1)) is kind
    assert (str(spec), spec.name, spec.units) == (name, name, (kind,))
    assert not spec.made_of_units
    assert not spec.is_users
    assert spec.identity() == [{"unit": name, "options": {}}]


def test_no_baseline_is_left_untested_and_none_has_the_name_of_a_unit():
    assert NAMED == BASELINES
    assert not set(BASELINES) & set(UNITS)


OPTIONS = [
    ("mlp(hidden=256x256)", lambda model: [layer.out_features for layer in model.layers[::2]], [256, 256, 1]),
    ("mlp(hidden=16)", lambda model: [layer.out_features for layer in model.layers[::2]], [16, 1]),
    ("mlp(hidden=4x3;activation=tanh)", lambda model: type(model.layers[1]), nn.Tanh),
    ("mlp(bias=false)", lambda model: model.layers[0].bias, None),
    ("lstm(hidden_size=7)", lambda model: model.network.hidden_size, 7),
]


@pytest.mark.parametrize(("text", "look", "expected"), OPTIONS, ids=[text for text, _, _ in OPTIONS])
def test_options_are_read_and_written_again(text, look, expected):
    spec = ModelSpec.parse(text)
    assert str(spec) == text
    assert look(spec.build(2, 1)) == expected
    assert ModelSpec.parse(str(spec)) == spec


@pytest.mark.parametrize("text", [*NAMED, *(text for text, *_ in OPTIONS)])
def test_a_baseline_crosses_processes_and_keeps_its_name(text):
    spec = ModelSpec.parse(text)
    assert pickle.loads(pickle.dumps(spec)) == spec


@pytest.mark.parametrize("size", ["256x", "x", "axb", "1.5", ""])
def test_sizes_that_are_no_whole_numbers_are_refused(size):
    with pytest.raises(nalm.ArgumentError, match="`hidden` must be whole numbers joined by x, as in 256x256"):
        ModelSpec.parse(f"mlp(hidden={size})")


@pytest.mark.parametrize("size", ["0", "-4", "8x0"])
def test_sizes_that_are_not_positive_are_refused_when_built(size):
    with pytest.raises(nalm.ArgumentError, match="`hidden` must be a positive whole number"):
        ModelSpec.parse(f"mlp(hidden={size})").build(2, 1)


@pytest.mark.parametrize(
    ("text", "close"),
    [("lsmt", "lstm"), ("rnn-tan", "rnn-tanh"), ("pair-cn", "pair-cnn"), ("fc-prod", "fc-product")],
)
def test_an_unknown_name_is_refused_with_the_nearest(text, close):
    with pytest.raises(nalm.ArgumentError, match=f"`unit` must be one of .* Did you mean '{close}'"):
        ModelSpec.parse(text)


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(nalm.ArgumentError, match="one of hidden_size, but got 'hidden'"):
        ModelSpec.parse("gru(hidden=3)")
    with pytest.raises(nalm.ArgumentError, match="one of hidden, activation, bias, but got 'sizes'"):
        ModelSpec.parse("mlp(sizes=3)")


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_a_solved_operation_is_offered_itself_alone(op):
    for solved in ("add", "mul", "div"):
        assert ModelSpec.parse(solved).can(op) is (op == solved)
    assert ModelSpec.parse("fc-product").can(op) is (op == "mul")


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn-tanh", "rnn-relu", "mlp", "pair-cnn"])
def test_of_an_ordinary_network_it_is_not_known_what_it_cannot(name):
    spec = ModelSpec.parse(name)
    assert spec.layers[0].ops is None
    assert all(spec.can(op) for op in ("add", "mul", "div", "count", "gt"))


@pytest.mark.parametrize("name", NAMED)
def test_a_baseline_is_trained_by_plain_adam(name):
    assert ModelSpec.parse(name).make_recipe("mul", 2) == Recipe()


def test_solved_operations_compute_them_and_have_nothing_to_learn():
    x = torch.tensor([[6.0, 3.0], [-4.0, 8.0]])
    found = {op: ModelSpec.parse(op).build(2, 1)(x)[:, 0].tolist() for op in ("add", "mul", "div")}
    assert found == {"add": [9, 4], "mul": [18, -32], "div": [2, -0.5]}
    assert not list(SolvedAdd().parameters())
    with pytest.raises(nalm.ArgumentError, match="`out_features` must be 1"):
        ModelSpec.parse("mul").build(2, 3)


# -- a network that compares two images ----------------------------------------------------------


def test_a_network_may_compare_two_images_without_reading_them():
    model = ModelSpec.parse("pair-cnn").build(2, 1)
    images = torch.rand(4, 2, 28, 28)
    output = model(images)
    assert output.shape == (4, 4)
    torch.testing.assert_close(output[:, :1], model.layers(images))
    torch.testing.assert_close(output[:, 3:], model.layers(images))
    assert not output[:, 1:3].any()
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in model.layers]
    assert [size for size in sizes if size] == [1_020, 25_050, 400_500, 501]
