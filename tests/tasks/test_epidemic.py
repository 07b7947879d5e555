"""Epidemics: the simulation, the noise, the rows, what the true equations get, and stored runs."""

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.tasks import KINDS, Epidemic, Split
from nalm.tasks.epidemic import NOISES, simulate
from nalm.tasks.sampling import sample
from nalm.training.published import published_recipe


class TrueSir(nn.Module):
    def forward(self, x):
        caught, cured = 0.5 * x[..., 0] * x[..., 1], 0.1 * x[..., 1]
        return torch.stack([-caught, caught - cured, cured], -1)


@pytest.mark.parametrize(("op", "whole"), [("sir", 1.0), ("fsir", 100.01)])
def test_nobody_is_lost(op, whole):
    times, states = simulate(op)
    assert len(times) == len(states) == 40
    np.testing.assert_allclose(states.sum(1), whole, rtol=1e-8)
    assert (states >= -1e-9).all()


def test_the_noise_is_that_share_of_the_deviation_and_spares_the_first_state():
    clean, off = simulate("sir")[1], []
    for seed in range(20):
        noisy = Epidemic("sir", 5).observed(seed)[1]
        np.testing.assert_array_equal(noisy[0], clean[0])
        # Far from zero, where no observation is cut off.
        off.append((noisy - clean)[1:, 2][clean[1:, 2] > 0.5])
    assert np.std(np.concatenate(off)) == pytest.approx(0.05 * clean[:, 2].std(), rel=0.1)


def test_the_noise_depends_on_the_seed_alone():
    task = Epidemic("sir", 1)
    np.testing.assert_array_equal(task.observed(3)[1], task.observed(3)[1])
    assert (task.observed(3)[1] != task.observed(4)[1]).any()
    np.testing.assert_array_equal(task.observed(3, Split.TEST)[1], simulate("sir", Split.TEST)[1])


def test_a_row_is_a_state_and_the_next():
    x, y = sample(Epidemic("sir"), 0, Split.TRAIN, 39)
    states = simulate("sir")[1]
    np.testing.assert_array_equal(x.numpy(), states[:-1])
    np.testing.assert_array_equal(y.numpy(), states[1:])


def test_the_true_equations_are_far_below_the_threshold_and_others_above():
    task = Epidemic("sir")
    x, y = sample(task, 0, Split.TEST, 39)
    network = task.network(TrueSir())
    error = float((network(x) - y).square().mean())
    assert error < task.threshold() / 100
    off = float((x + 1.02 * (network(x) - x) - y).square().mean())
    assert off > task.threshold()


def test_there_is_a_variant_for_each_system_and_noise_and_each_can_be_rebuilt():
    made = Epidemic.variants()
    assert len(made) == len(Epidemic.ops) * len(NOISES)
    for task in made:
        assert KINDS["epidemic"].rebuild(task.labels(), task.identity()) == task


@pytest.mark.parametrize("noise", [-1, 100, "some"])
def test_a_noise_that_is_no_share_is_refused(noise):
    with pytest.raises(ArgumentError, match="noise"):
        Epidemic("sir", noise)


def test_a_stack_is_trained_by_rmsprop_and_solved_by_search():
    task = Epidemic("sir")
    assert published_recipe(ModelSpec.parse("npu+nau"), task).trainer == "engine"
    assert published_recipe(ModelSpec.parse("npu+nau@second-order"), task).trainer == "dynamics"


def test_the_search_refuses_other_units_by_name():
    case = Case(ModelSpec.parse("nau+nmu@second-order"), Epidemic("sir"))
    with pytest.raises(ArgumentError, match="realnpu"):
        compute(Chunk((Run(case, 0),)))


def test_a_stored_run_of_the_search_has_the_equations_as_weights_and_the_front_as_history():
    case = Case(ModelSpec.parse("realnpu+nau@second-order"), Epidemic("sir"))
    (record,) = compute(Chunk((Run(case, 0),)))
    assert record.test[record.chosen] < case.task.threshold()
    factors = np.sort(np.abs(record.chosen_parameters["unit.1.weight"]).ravel())
    np.testing.assert_allclose(factors, [0, 0, 0.1, 0.1, 0.5, 0.5], rtol=1e-3)
    assert len(record.history["unit.1.weight"]) > 1


def test_training_through_the_solver_lowers_the_error():
    options = {"seeds": [0], "hidden": 4, "iterations": 100, "log_interval": 100, "compiled": False}
    result = nalm.train("realnpu+nau", Epidemic("sir"), dtype=torch.float64, **options)
    assert result.validation[0, -1] < 0.5 * result.validation[0, 0]
