"""Gates and arithmetic of truth values: data, solutions, formulas."""

import itertools

import pytest
import sympy as sp
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import Adam
from nalm.symbolic import explain
from nalm.tasks import Logic, Split
from nalm.tasks.logic import DEGREES, GATES
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs

MEANINGS = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a, b: not a,
    "xor": lambda a, b: a != b,
    "implies": lambda a, b: not a or b,
    "mul": lambda a, b: a * b,
    "mean": lambda a, b: (a + b) / 2,
    "identity": lambda a, b: a,
    "constant": lambda a, b: 1.0,
}


@pytest.mark.parametrize("op", Logic.ops)
def test_targets_are_what_the_operation_means(op):
    x, y = sample(Logic(op), 0, Split.TRAIN, 200)
    expected = [float(MEANINGS[op](a, b)) for a, b in x[:, :2].tolist()]
    assert y[:, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("op", GATES)
def test_gates_see_every_row_of_the_truth_table(op):
    x, _ = sample(Logic(op, inputs=3), 1, Split.VALIDATION, 400)
    assert {tuple(row) for row in x.tolist()} == set(itertools.product((0.0, 1.0), repeat=3))


@pytest.mark.parametrize("op", DEGREES)
def test_arithmetic_sees_degrees_of_truth(op):
    x, _ = sample(Logic(op), 1, Split.TEST, 400)
    assert ((x >= 0) & (x < 1)).all()
    assert ((x > 0.1) & (x < 0.9)).any()


@pytest.mark.parametrize("op", ["and", "or", "not", "implies"])
@pytest.mark.parametrize("de_morgan", [False, True])
def test_ideal_weights_solve_gates_and_are_read_as_the_gate(op, de_morgan):
    task, unit = Logic(op), nalm.NLRL(2, 1, de_morgan=de_morgan)
    unit.ideal_(op)
    x, y = sample(task, 0, Split.TEST, 200, dtype=torch.float32)
    assert float((unit(x) - y).square().mean()) < task.threshold()
    assert task.is_solution(explain(unit, task.input_names).expressions[0])


def test_formulas_are_compared_by_their_truth_tables():
    a, b, c = sp.symbols("x1 x2 x3")
    assert Logic("xor").is_solution((a & ~b) | (~a & b))
    assert not Logic("xor").is_solution(a | b)
    assert Logic("implies").is_solution(~a | b)
    assert not Logic("and", inputs=3).is_solution(a & b & c)
    assert Logic("constant").is_solution(sp.true)
    assert Logic("identity").is_solution(sp.Symbol("x1", real=True))
    assert Logic("mean").is_solution((sp.Symbol("x1", real=True) + sp.Symbol("x2", real=True)) / 2)


def test_exclusive_or_is_learnt_by_a_stack_and_all_gates_share_a_program():
    tasks = [Logic(op) for op in GATES]
    assert len({task.shape() for task in tasks}) == 1
    cases = [Case(ModelSpec.parse("nlrl+nlrl"), task, hidden=8) for task in tasks]
    model, recipes = cases[0].build(), [case.recipe for case in cases]
    result = train_runs(model, tasks, recipes, [0] * 5, iterations=800, log_interval=400, compiled=False)
    assert (result.chosen_error(Split.TEST) < Logic("xor").threshold()).all()
    assert (result.errors["test/wrong_number"][:, -1] == 0).all()


def test_the_recipe_is_one_for_all_operations():
    case = Case(ModelSpec.parse("nlrl+nlrl"), Logic("xor"))
    assert (case.recipe.optimiser, case.recipe.iterations) == (Adam(1e-2), 10_000)


def test_a_stored_task_is_rebuilt():
    task = Logic("or", inputs=4)
    assert Logic.rebuild(task.labels(), task.identity()) == task


@pytest.mark.parametrize("wrong", [{"op": "nand"}, {"op": "or", "inputs": 1}, {"op": "or", "inputs": True}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ArgumentError, match=list(wrong)[-1]):
        Logic(**wrong)
