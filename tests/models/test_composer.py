"""The composer: a scratchpad whose choices are an expression graph."""

import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import ModelSpec
from nalm.models.composer import CODES, Composer, of_step
from nalm.recipes import SGD, ClipValue, Recipe
from nalm.symbolic.expression_graph import SIGNS, ExpressionGraph, Step
from nalm.tasks import Composition
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs


def made(op="add-mul", **options):
    task = Composition(op)
    composer = Composer(4, 1, dtype=torch.float64, **options)
    composer.set_graph_(task.graph)
    return task, composer


@pytest.mark.parametrize("op", Composition.ops)
def test_it_computes_and_is_read_as_the_graph_it_is_given(op):
    task, composer = made(op)
    x, y = sample(task, 0, "test", 30)
    torch.testing.assert_close(composer(x), y)
    assert task.is_solution(nalm.explain(composer, task.input_names).expressions[0])
    assert composer.sparsity_error().item() == 0


def test_it_gives_the_graph_back():
    task, composer = made(steps=3)
    found = composer.graph(composer.parameter_values())
    assert found.steps == task.graph.steps
    assert found.result == task.graph.result


def test_a_graph_of_more_steps_or_other_inputs_is_refused():
    for graph in (Composition("3-step-0", inputs=4).graph, Composition("2-step-0", inputs=5).graph):
        with pytest.raises(ArgumentError, match="graph"):
            Composer(4, 1, steps=2).set_graph_(graph)


@pytest.mark.parametrize("op", SIGNS)
def test_a_reciprocal_of_zero_is_zero(op):
    zero = torch.zeros(1)
    assert of_step(op, zero, zero).isfinite().all()


def test_an_operation_that_is_not_chosen_may_overflow():
    composer = Composer(2, 1, steps=1)
    composer.set_graph_(ExpressionGraph(2, (Step("sub", 0, 1),)))
    assert composer(torch.tensor([[1e30, 1e30]])).item() == 0  # their product is infinite


def test_in_between_it_is_the_weighted_sum_of_all_operations():
    composer = Composer(2, 1, steps=1, dtype=torch.float64)
    x = np.array([3.0, 4.0])
    p = composer.parameter_values()
    left, right = (p[name][0, :2] @ x for name in ("left", "right"))
    values = [of_step(op, torch.tensor(left), torch.tensor(right)).item() for op in CODES]
    lines = [*x, p["operation"][0] @ np.array(values)]
    assert composer(torch.tensor(x)[None]).item() == pytest.approx(p["output"] @ np.array(lines))


def test_models_side_by_side_compute_what_each_computes_alone():
    torch.manual_seed(0)
    many = Composer(3, 1, batch_shape=(4,), dtype=torch.float64)
    x = torch.rand(4, 5, 3, dtype=torch.float64) + 1
    for k in range(4):
        one = Composer(3, 1, dtype=torch.float64)
        one.load_state_dict({name: p[k] for name, p in many.state_dict().items()})
        torch.testing.assert_close(many(x)[k], one(x[k]))


def test_the_engine_can_train_the_choices():
    recipe = Recipe(optimiser=SGD(1e-3), clip_value=ClipValue(0.1))
    result = train_runs(
        Composer(4, 1, steps=2), [Composition("add-add")] * 2, [recipe] * 2, [0, 1],
        iterations=200, log_interval=100,
    )  # fmt: skip
    assert bool((result.validation[:, -1] < result.validation[:, 0]).all())


def test_its_name_and_options_are_parsed_and_written():
    spec = ModelSpec.parse("composer(steps=3)")
    assert str(spec) == "composer(steps=3)"
    assert spec.build(4, 1).steps == 3
    with pytest.raises(ArgumentError, match="out_features"):
        Composer(4, 2)


def test_a_graph_that_divides_by_zero_is_not_readable():
    composer = Composer(2, 1, steps=2)
    composer.set_graph_(ExpressionGraph(2, (Step("sub", 0, 0), Step("div", 1, 2))))
    found = nalm.explain(composer, ["a", "b"])
    assert not found.readable
    assert "divides by zero" in str(found)
