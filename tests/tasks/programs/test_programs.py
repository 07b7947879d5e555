"""The task of programs: its splits, its recipe, and that a solved network has no wrong digit."""

import pytest
import torch

from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import RMSE, Falling
from nalm.tasks import TASKS, Programs, Split
from nalm.tasks.programs.task import QUICK_STEPS, THREE
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs

MODELS = ("configured-nalu", "configured-nau", "ugrnn", "lstm", "dnc", "nac")


def test_it_is_a_task_by_name():
    assert TASKS["programs"] is Programs
    assert [task.op for task in Programs.variants()] == ["sum", "program"]


@pytest.mark.parametrize("op", Programs.ops)
def test_every_model_takes_programs(op):
    task = Programs(op).reduced()
    programs, results = sample(task, 0, Split.TRAIN, 7, dtype=torch.float32)
    for model in MODELS:
        network = Case(ModelSpec.parse(model), task).build()
        assert network(programs).shape == results.shape, model


def test_the_recipe_is_that_of_the_reduced_protocol():
    recipe = Case(ModelSpec.parse("configured-nalu"), Programs("sum").reduced()).recipe
    assert recipe.iterations == QUICK_STEPS["sum"] < QUICK_STEPS["program"]
    assert isinstance(recipe.optimiser, Falling)
    assert recipe.trainer == "loop"
    assert isinstance(Programs("sum").loss, RMSE)


def test_what_is_not_offered_is_refused():
    with pytest.raises(ArgumentError, match="op"):
        Programs("product")
    with pytest.raises(ArgumentError, match="step by step"):
        _ = Case(ModelSpec.parse("nau@second-order"), Programs()).recipe


def test_a_run_logs_wrong_digits_on_every_set():
    case = Case(ModelSpec.parse("configured-nau"), Programs("sum").reduced(), iterations=3)
    found = train_runs(
        case.build(), [case.task], [case.recipe], [0], log_interval=3, initial=case.initial([0])
    )
    curves = {f"{split}/wrong_digits" for split in (Split.VALIDATION, Split.TEST, THREE)}
    assert curves <= set(found.errors)
    assert all(found.errors[name].min() >= 0 and found.errors[name].max() <= 1 for name in curves)
    assert {facet.curve for facet in case.task.facets()} == curves


def test_the_task_of_a_stored_run_is_rebuilt():
    task = Programs("program").reduced()
    assert Programs.rebuild(task.labels(), task.identity()) == task
