"""An agent that acts in the gymnasium environment, and its episode as an animated picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from nalm.environments.grid_world import GridWorldEnv, Observation
from nalm.models.agents import Agent
from nalm.tasks.grid_world.pictures import as_input

ENLARGED = 4
"""How many points of the animation a point of a picture has along each side."""


@dataclass(frozen=True)
class Episode:
    """What an agent did.

    Attributes:
        instruction: the time it was told.
        pictures: what it saw, from t = 0 to the end, each `56 x 56 x 3`.
        actions: what it did, one fewer.
        reward: what it got.
        arrived: the time at which it arrived; None if it never did.
    """

    instruction: int
    pictures: Sequence[NDArray[np.uint8]]
    actions: Sequence[int]
    reward: float
    arrived: int | None

    def save(self, path: Path) -> None:
        """Write it as a GIF that repeats; the last picture stays for a while."""
        side = self.pictures[0].shape[0] * ENLARGED
        shown = [
            Image.fromarray(each).resize((side, side), Image.Resampling.NEAREST) for each in self.pictures
        ]
        times = [250] * (len(shown) - 1) + [1500]
        shown[0].save(path, format="GIF", save_all=True, append_images=shown[1:], duration=times, loop=0)


@torch.no_grad()
def play(agent: Agent, instruction: int, *, seed: int = 0, limit: int = 30) -> Episode:
    """One episode in which the agent takes its likeliest action."""
    env = GridWorldEnv(limit=limit)
    observation, about = env.reset(seed=seed, options={"instruction": instruction})
    memory = torch.zeros(1, agent.memory_size)
    pictures, actions = [observation["picture"]], list[int]()
    arrived = over = False
    reward = 0.0
    while not (arrived or over):
        answer = agent(*_inputs(agent, observation, first=not actions), memory)
        memory = answer[:, agent.actions + 1 :]
        actions.append(int(answer[0, : agent.actions].argmax()))
        observation, reward, arrived, over, about = env.step(actions[-1])
        pictures.append(observation["picture"])
    return Episode(instruction, pictures, actions, reward, about["time"] if arrived else None)


def _inputs(agent: Agent, observation: Observation, *, first: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """What the agent takes of an observation: what it sees; T, with a mark at the first step."""
    seen = agent(as_input(torch.from_numpy(observation["picture"])[None]))
    told = torch.tensor([[float(observation["instruction"][0]), float(first)]])
    return seen, told
