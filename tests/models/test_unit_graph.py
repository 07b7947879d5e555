"""A network of units made of an expression graph: it computes, is read, trained and saved."""

import copy
import pickle

import pytest
import torch

import nalm
from nalm.models.unit_graph import UnitGraph
from nalm.symbolic.expression_graph import SIGNS, ExpressionGraph, Step
from nalm.tasks import Composition
from nalm.tasks.sampling import sample

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("op", SIGNS)
def test_a_step_is_a_unit_that_computes_its_operation(op):
    graph = ExpressionGraph(2, (Step(op, 0, 1),))
    model = UnitGraph(graph, dtype=torch.float64).eval()
    x = torch.tensor([[3.0, -4.0], [-0.5, 2.0]], dtype=torch.float64)
    torch.testing.assert_close(model(x)[:, 0], graph(x))
    assert graph.is_equal(nalm.explain(model, ["a", "b"]).expressions[0], ["a", "b"])


@pytest.mark.parametrize("number", range(12))
def test_a_sampled_expression_is_read_back(number):
    task = Composition(f"3-step-{number}")
    model = UnitGraph(task.graph, dtype=torch.float64).eval()
    x, y = sample(task, 0, "test", 20)
    torch.testing.assert_close(model(x), y)
    assert task.is_solution(nalm.explain(model, task.input_names).expressions[0])


def test_an_input_alone_is_a_formula_too():
    model = UnitGraph(ExpressionGraph(3, (), 1))
    assert str(nalm.explain(model, ["a", "b", "c"])) == "b"


def test_it_is_trained_like_any_module():
    torch.manual_seed(0)
    task = Composition("add-mul")
    model = UnitGraph(task.graph, dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.9)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    nalm.attach(model, optimizer)
    for step in range(300):
        x, y = sample(task, 0, "train", 64, step)
        optimizer.zero_grad()
        (torch.nn.functional.mse_loss(model(x), y) + 0.1 * nalm.penalty(model)).backward()
        optimizer.step()
    assert str(nalm.explain(model, NAMES)) == "c*(a + b)"


def test_it_is_copied_pickled_and_saved():
    model = UnitGraph(Composition("div-add").graph)
    x = torch.rand(5, 4) + 1
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other(x), model(x))
    again = UnitGraph(Composition("div-add").graph)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(x), model(x))
