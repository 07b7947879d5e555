"""The reciprocal task: data, thresholds, the thesis's shorter recipe."""

import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import ModelSpec
from nalm.tasks import RANGE_SETS, Reciprocal, Split


def batch(task, n=1000):
    numbers = {name: torch.tensor([value]) for name, value in task.numbers(0, Split.TRAIN).items()}
    return task.batch(torch.rand(1, task.inputs, n), numbers)


@pytest.mark.parametrize("inputs", [1, 2])
def test_the_target_is_the_reciprocal_of_the_first_input(inputs):
    x, y = batch(Reciprocal(range="1:2", inputs=inputs))
    assert x.shape == (1, 1000, inputs)
    torch.testing.assert_close(y[..., 0], 1 / x[..., 0])


def test_the_ranges_of_the_thesis_are_tested_where_they_are_trained():
    assert Reciprocal.ranges == RANGE_SETS["near-zero"]
    for name in Reciprocal.ranges:
        task = Reciprocal(range=name)
        assert task.train_range == task.test_range
        assert task.threshold() is None


@pytest.mark.parametrize("inputs", [1, 2])
def test_away_from_zero_the_threshold_is_that_of_weights_off_by_epsilon(inputs):
    generator, epsilon = np.random.default_rng(0), 1e-5
    x = generator.uniform(2, 6, (inputs, 200_000))
    factor = 1 / (1 + epsilon)
    for irrelevant in x[1:]:
        factor = factor * (1 - epsilon * irrelevant)
    expected = (((1 - factor) / x[0]) ** 2).mean()
    assert Reciprocal(range="1:2", inputs=inputs).threshold() == pytest.approx(expected, rel=0.02, abs=0)


@pytest.mark.parametrize("unit", ["nru", "nmru", "realnpu"])
def test_with_one_input_there_are_5000_steps_and_no_penalty(unit):
    recipe = ModelSpec.parse(unit).make_recipe("reciprocal", 1)
    adapted = Reciprocal().adapt(recipe)
    assert (adapted.iterations, adapted.penalties) == (5000, ())
    assert adapted.optimiser == recipe.optimiser
    assert Reciprocal(inputs=2).adapt(recipe) == recipe


@pytest.mark.parametrize("unit", [nalm.NRU, nalm.NMRU, nalm.RealNPU, nalm.NPU, nalm.NACMul, nalm.INALU])
@pytest.mark.parametrize("inputs", [1, 2])
def test_ideal_weights_solve_it(unit, inputs):
    task, model = Reciprocal(range="1:2", inputs=inputs), unit(inputs, 1).eval()
    task.ideal_(model)
    x, y = batch(task)
    torch.testing.assert_close(model(x[0]), y[0], rtol=1e-5, atol=0)


def test_other_operations_are_refused():
    with pytest.raises(ArgumentError, match="one of reciprocal"):
        Reciprocal("div")
