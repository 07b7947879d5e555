"""The task composition: the thesis's 16 expressions, and sampled ones of any number of steps."""

import math

import numpy as np
import pytest
import sympy as sp
import torch

from nalm.errors import ArgumentError
from nalm.models import ModelSpec
from nalm.tasks import Composition
from nalm.tasks.composition import TWO_STEPS
from nalm.tasks.sampling import sample
from nalm.training.published import published_recipe

# Thesis, table 7.1.
TABLE = {
    "add-add": "a + b + c", "add-sub": "-a - b - c", "add-mul": "(a + b)*c", "add-div": "1/((a + b)*c)",
    "sub-add": "-a - b + c", "sub-sub": "a + b - c", "sub-mul": "(-a - b)*c", "sub-div": "1/((-a - b)*c)",
    "mul-add": "a*b + c", "mul-sub": "-a*b - c", "mul-mul": "a*b*c", "mul-div": "1/(a*b*c)",
    "div-add": "1/(a*b) + c", "div-sub": "-1/(a*b) - c", "div-mul": "c/(a*b)", "div-div": "a*b/c",
}  # fmt: skip
SYMBOLS = {name: sp.Symbol(name, real=True) for name in "abcd"}


@pytest.mark.parametrize("op", TWO_STEPS)
def test_an_expression_is_that_of_the_thesis(op):
    task = Composition(op)
    x, y = sample(task, 3, "train", 50)
    a, b, c, _ = x.unbind(-1)
    torch.testing.assert_close(y[:, 0], sp.lambdify(["a", "b", "c"], TABLE[op])(a, b, c))
    assert task.is_solution(sp.sympify(TABLE[op], SYMBOLS))
    assert not task.is_solution(sp.sympify(TABLE[op], SYMBOLS) + SYMBOLS["d"])


def test_all_sixteen_share_one_program():
    assert len({Composition(op).shape() for op in TWO_STEPS}) == 1


def test_training_is_on_1_to_2_and_the_test_on_2_to_6():
    about = Composition("add-mul").about()
    assert about["train_range"] == ((1.0, 2.0),)
    assert about["test_range"] == ((2.0, 6.0),)
    assert about["labels"]["expression"] == "c*(a + b)"
    assert about["inputs"] == 4


@pytest.mark.parametrize("op", ["add-mul", "div-div", "3-step-5"])
def test_the_threshold_is_the_error_of_weights_that_are_off_by_epsilon(op):
    task = Composition(op)
    assert task.threshold() > 0
    assert task.threshold(epsilon=1e-4) == pytest.approx(100 * task.threshold(epsilon=1e-5), rel=0.01)


def test_the_threshold_of_a_sum_is_known():
    # (a + b) is off by epsilon, and then the whole and c again: E[(2 eps (a + b) + eps c)^2].
    expected = 1e-10 * np.mean(
        [(2 * (a + b) + c) ** 2 for a, b, c in np.random.default_rng(0).uniform(2, 6, (100_000, 3))]
    )
    assert Composition("add-add").threshold() == pytest.approx(expected, rel=0.02)


def test_sampled_expressions_are_distinct_and_need_every_step():
    tasks = [Composition(f"3-step-{k}") for k in range(100)]
    assert {task.inputs for task in tasks} == {6}
    graphs = [task.graph for task in tasks]
    assert len({graph.fingerprint for graph in graphs}) == 100
    for graph in graphs:
        assert set(range(6, 9)) <= graph.needed
        assert all(graph.depends_on(column) for column in graph.used_inputs)


def test_a_number_always_means_the_same_expression():
    assert Composition("3-step-0").target == "(2*a - b)**2"
    assert Composition("4-step-2", inputs=5).graph == Composition("4-step-2", "10:20", 5).graph


def test_operations_can_be_chosen():
    for k in range(20):
        assert {step.op for step in Composition(f"2-step(add|mul)-{k}").graph.steps} <= {"add", "mul"}


def test_a_set_is_written_out():
    assert Composition.expand_ops(["add-mul", "3-step:2"]) == ["add-mul", "3-step-0", "3-step-1"]


@pytest.mark.parametrize(
    ("op", "sentence"),
    [
        ("ad-mul", "Did you mean 'add-mul'?"),
        ("3-step", "3-step-17 or 3-step:200"),
        ("0-step-1", "1 to 8 steps"),
        ("3-step(pow)-1", "add, sub, mul, div"),
        ("2-step-99999", "1 to 10,000"),
        ("3-step:0", "1 to 10,000"),
        ("1-step(add)-500", "all that 1 steps over 2 inputs can give"),
    ],
)
def test_an_expression_that_is_not_there_is_refused(op, sentence):
    with pytest.raises(ArgumentError, match="op") as error:
        Composition(op)
    assert sentence in str(error.value)


def test_the_same_task_comes_back_from_its_labels():
    task = Composition("3-step-7", "-2:2", 5)
    assert Composition.rebuild(task.labels(), task.identity()) == task


def test_a_stack_is_trained_as_in_table_7_2():
    recipe = published_recipe(ModelSpec.parse("nau+nmu+nau+nmu"), Composition("add-mul"))
    assert (recipe.iterations, recipe.batch_size) == (200_000, 128)
    assert type(recipe.optimiser).__name__ == "SGD"
    assert recipe.optimiser.learning_rate == 1e-3
    assert all(penalty.strength in (5.0, 10.0) for penalty in recipe.penalties)


def test_numbers_are_finite_on_every_range_of_the_papers():
    for name in ("-2:2", "1.1:1.2", "-1.2:-1.1", "10:20"):
        for k in range(10):
            task = Composition(f"4-step-{k}", name)
            assert bool(sample(task, 0, "train", 100)[1].isfinite().all())
            assert math.isfinite(task.threshold())
