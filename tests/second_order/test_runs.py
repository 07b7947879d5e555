"""Runs of tasks: what the engine and the benchmark get."""

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.recipes import SECOND_ORDER, LevenbergMarquardt, Recipe
from nalm.second_order.runs import logged_steps
from nalm.tasks import ArithmeticDataset, SingleModule
from nalm.training.trainers import train_runs

DRAWN = Recipe(optimiser=LevenbergMarquardt(grow=False), clamps=(), iterations=60)


def solved(model, task, recipe=SECOND_ORDER, seeds=(0, 1)):
    return train_runs(model, [task] * len(seeds), [recipe] * len(seeds), list(seeds))


def test_logged_steps_are_dense_at_first_and_end_with_the_last():
    assert logged_steps(20) == [0, 1, 2, 3, 4, 6, 9, 13, 19, 20]
    assert logged_steps(1) == [0, 1]


@pytest.mark.parametrize("range", ["-2:2", "1.1:1.2", "mixed-2", "tn-0", "benford", "-100:100"])
def test_division_with_redundant_inputs(range):
    result = solved(nalm.NMRU(10, 1), SingleModule("div", range, 10))
    assert result.success_rate() == 1
    assert [cost["found"] for cost in result.costs] == ["exact"] * 2


def test_the_curve_leads_from_the_start_to_what_was_chosen():
    result = solved(nalm.NMU(4, 1), SingleModule("mul", "1:2", 4), DRAWN)
    assert result.steps.tolist() == logged_steps(60)
    assert result.validation[:, 0].min() > 1e-6 > result.validation[:, -1].max()
    assert result.chosen.tolist() == [len(result.steps) - 1] * 2
    assert torch.equal(result.history["weight"][:, -1], result.chosen_parameters["weight"])
    assert 0 < result.costs[0]["chosen_steps"] <= result.costs[0]["steps"]


def test_a_run_depends_on_its_own_seed_alone():
    task = SingleModule("mul", "1:2", 4)
    together = solved(nalm.NMU(4, 1), task, DRAWN, seeds=(0, 1, 2))
    alone = solved(nalm.NMU(4, 1), task, DRAWN, seeds=(2,))
    assert torch.equal(together.validation[2], alone.validation[0])
    assert torch.equal(together.history["weight"][2], alone.history["weight"][0])


def test_the_arithmetic_dataset_with_few_inputs():
    result = nalm.train("nau+nmu", ArithmeticDataset("mul", "1.1:1.2", inputs=20), SECOND_ORDER, seeds=2)
    assert result.success_rate() == 1
    assert result.model[1].weight.tolist() == [[1, 1]]


def test_weights_that_the_sum_leaves_open_are_made_discrete():
    result = nalm.train("nau+nau", ArithmeticDataset("add", "1:2", inputs=20), SECOND_ORDER, seeds=2)
    assert result.success_rate() == 1
    assert set(result.chosen_parameters["0.weight"].unique().tolist()) <= {-1, 0, 1}


def test_progress_is_told():
    told = []
    nalm.train("nmu", SingleModule("mul"), SECOND_ORDER, seeds=2, on_progress=told.append)
    assert [report.done for report in told] == [0, 100, 200]
    assert told[-1].total == 200


def test_a_table_is_refused_with_what_to_use_instead():
    x = torch.rand(20, 2)
    with pytest.raises(ArgumentError, match=r"nalm\.solve"):
        nalm.train(nalm.NMU(2, 1), (x, x.prod(1)), SECOND_ORDER)


def test_a_model_that_is_too_large_is_refused():
    with pytest.raises(ArgumentError, match="4,096"):
        nalm.train(nalm.NAU(5000, 1), SingleModule("add", inputs=5000), SECOND_ORDER)
