"""A task with an environment: policies that act in episodes are trained and stored like all others."""

from dataclasses import dataclass

import pytest
import torch

import nalm
from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.recipes import Adam, Recipe
from nalm.tasks import EnvironmentTask
from nalm.training.trainers import train_runs


@dataclass(frozen=True)
class Corridor(EnvironmentTask):
    """Walk to a door and stay there: it is 1 to 3 steps to the right; each step away from it costs 1."""

    name = "corridor"
    actions = 2
    steps = 4
    in_features = 2

    def shape(self):
        return (type(self),)

    def numbers(self, seed, split):
        return {}

    def identity(self):
        return {"name": self.name}

    def labels(self):
        return {"corridor": "4 steps"}

    def start(self, u, numbers):
        door = 1 + (3 * u[:, 0]).floor()
        return {"place": torch.zeros_like(door), "door": door}

    def observe(self, state):
        return torch.stack([state["door"] - state["place"], torch.ones_like(state["door"])], -1)

    def act(self, state, action):
        place = state["place"] + action
        return {**state, "place": place}, -(state["door"] - place).abs()

    def best(self, state):
        return -(state["door"] - 1) * state["door"] / 2


RECIPE = Recipe(optimiser=Adam(0.05), iterations=300, batch_size=64)


def trained(**options):
    tasks, recipes = [Corridor()] * 2, [RECIPE] * 2
    return train_runs(nalm.Linear(2, 2), tasks, recipes, [0, 1], log_interval=100, **options)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_policy_learns_to_act(compiled):
    result = trained(compiled=compiled)
    assert (result.validation[:, 0] > 0.5).any()  # as it starts, some policy does not reach the door
    assert (result.test[:, -1] == 0).all()  # then every episode is the best one


def test_its_runs_are_the_same_in_the_loop():
    ours = trained(compiled=False)
    recipe = Recipe(**{**vars(RECIPE), "by": "loop"})
    theirs = train_runs(nalm.Linear(2, 2), [Corridor()], [recipe], [1], log_interval=100)
    assert torch.allclose(ours.validation[1], theirs.validation[0])


def test_its_runs_are_stored():
    case = Case(ModelSpec.parse("linear"), Corridor(), iterations=10, other_recipe=RECIPE)
    (record,) = compute(Chunk((Run(case, 0),)))
    assert record.labels == {"corridor": "4 steps"}
    assert record.chosen_parameters["w_hat"].shape == (2, 2)
