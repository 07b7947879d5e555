"""A linear layer of activations: stacks of it are the ordinary networks of `nalm.models.baselines`."""

import pytest
import sympy as sp
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import ModelSpec
from nalm.models.baselines import ACTIVATIONS, MLP
from nalm.recipes import Recipe
from nalm.tasks import ArithmeticDataset
from nalm.training.trainers import train_runs
from nalm.units._activations import FUNCTIONS

NAMES = list(FUNCTIONS)


def stack(activation, **sizes):
    return ModelSpec.parse(f"linear+linear(activation={activation})").build(3, 2, hidden=4, **sizes)


def inputs(*shape):
    return 4 * torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_the_activations_are_those_of_the_baselines():
    assert set(FUNCTIONS) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", NAMES)
def test_a_stack_is_the_network_of_torch(name):
    network = MLP(3, 2, hidden=(4,), activation=name, dtype=torch.float64)
    units = stack(name, dtype=torch.float64)
    first, activation, last = network.layers
    with torch.no_grad():
        for unit, layer in zip(units, (first, last)):
            unit.w_hat.copy_(layer.weight)
            unit.bias.copy_(layer.bias)
        if name == "prelu":
            activation.weight.fill_(0.1)
            units[1].slope.fill_(0.1)
    x = inputs(50, 3)
    torch.testing.assert_close(units(x), network(x))


@pytest.mark.parametrize("name", NAMES)
def test_models_stand_side_by_side(name):
    batch = nalm.Linear(3, 2, activation=name, batch_shape=(4,), dtype=torch.float64)
    x = inputs(4, 10, 3)
    for k in range(4):
        single = nalm.Linear(3, 2, activation=name, dtype=torch.float64)
        single.load_state_dict({n: p[k] for n, p in batch.state_dict().items()})
        torch.testing.assert_close(batch(x)[k], single(x[k]))


@pytest.mark.parametrize("name", NAMES)
def test_the_symbolic_form_evaluates_to_the_output(name):
    unit, x = nalm.Linear(2, 1, activation=name, dtype=torch.float64), inputs(6, 2)
    (formula,) = unit.expression(["a", "b"])
    symbols = [sp.Symbol(s, real=True) for s in "ab"]
    values = [float(formula.subs(dict(zip(symbols, row)))) for row in x.tolist()]
    torch.testing.assert_close(unit(x)[:, 0].detach(), torch.tensor(values, dtype=torch.float64))


def test_crelu_has_two_weights_an_input_and_prelu_a_slope():
    assert nalm.Linear(3, 2, activation="crelu").w_hat.shape == (2, 6)
    assert nalm.Linear(3, 2, activation="prelu").slope.tolist() == [0.25]
    assert "activation='crelu'" in repr(nalm.Linear(3, 2, activation="crelu"))


def test_behind_an_activation_it_expresses_no_operation():
    spec = ModelSpec.parse("linear(activation=relu)")
    assert not spec.can("add")
    assert nalm.Linear(2, 1, activation="none").ops == ("add", "sub")
    with pytest.raises(ArgumentError, match="`op` must be one that linear can express"):
        nalm.Linear(2, 1, activation="relu").ideal_("add", 0, 1)


def test_an_unknown_activation_is_refused():
    with pytest.raises(ArgumentError, match="`activation` must be one of"):
        nalm.Linear(2, 1, activation="swish")


@pytest.mark.parametrize("name", ["prelu", "crelu", "relu6"])
def test_the_engine_trains_a_stack_on_any_operation(name):
    model = ModelSpec.parse(f"linear+linear(activation={name})").build(8, 1)
    task = ArithmeticDataset("mul", "1:2", inputs=8)
    result = train_runs(
        model, [task] * 3, [Recipe(iterations=300)] * 3, range(3), log_interval=300, compiled=False
    )
    assert (result.validation[:, -1] < result.validation[:, 0]).all()


def test_a_stack_trains_on_data_of_the_users_own():
    x = inputs(64, 3).float()
    result = nalm.train(
        "linear+linear(activation=tanh)", (x, x.sum(-1, keepdim=True)), iterations=2, compiled=False
    )
    assert len(result) == 1
