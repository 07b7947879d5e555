"""An agent in the gymnasium environment: it acts as in the task, and its episode is an animation."""

import torch
from PIL import Image

from nalm.environments.episodes import play
from nalm.models import ModelSpec
from nalm.tasks import GridWorld

TASK = GridWorld("instruct")


def agent():
    torch.manual_seed(0)
    return TASK.network(ModelSpec.parse("nac").build(*TASK.unit_features))


def test_an_agent_acts_as_in_the_task():
    """The same start in both: the same arrival."""
    from nalm.environments import GridWorldEnv

    made = agent()
    env = GridWorldEnv(limit=30)
    for seed in range(10):
        env.reset(seed=seed, options={"instruction": 9})
        numbers = {"latest": torch.tensor([12.0]), "limit": torch.tensor([30.0])}
        numbers |= TASK.constants("test")
        task = _Beginning(env.state)
        with torch.no_grad():
            state = task.played(_applied(made), torch.zeros(1, 3, 1), numbers)
        episode = play(made, 9, seed=seed)
        assert (episode.arrived or 0) == int(task.outcome(state)[0])
        assert len(episode.actions) == int(state["time"])


class _Beginning(GridWorld):
    """The task with one episode of a given start."""

    def __init__(self, state):
        object.__setattr__(self, "begun", {name: each.reshape(1, 1) for name, each in state.items()})
        object.__setattr__(self, "op", "instruct")
        object.__setattr__(self, "reward", "exact")

    def start(self, u, numbers):
        return {**self.begun, "away": torch.zeros(1, 1), "limit": numbers["limit"][:, None]}


def _applied(model):
    def predict(x):
        inputs = x if isinstance(x, tuple) else (x,)
        return model(*(each[0] for each in inputs))[None]

    return predict


def test_an_episode_is_an_animation(tmp_path):
    episode = play(agent(), 9, seed=1)
    episode.save(tmp_path / "episode.gif")
    with Image.open(tmp_path / "episode.gif") as shown:
        assert shown.is_animated
        assert shown.size == (224, 224)
        assert shown.n_frames <= len(episode.pictures)  # pictures that do not differ are one
