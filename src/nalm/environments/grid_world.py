"""The grid world of Trask et al. 2018, section 4.5, for gymnasium: one episode, by the rules of the task."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from nalm.errors import ArgumentError, check_choice
from nalm.tasks.grid_world import rules
from nalm.tasks.grid_world.pictures import POINTS, picture

Observation = dict[str, NDArray[Any]]


class GridWorldEnv(gymnasium.Env[Observation, int]):
    """First step on the red square at the time that is told.

    An observation has the `picture`, 56 x 56 points, and the `instruction` T. The actions are UP, DOWN, LEFT,
    RIGHT and PASS. An episode is terminated by arriving, and truncated at t = limit.

    Args:
        instructions: the smallest and the largest T that are drawn;
            `reset(options={"instruction": 16})` gives another.
        limit: the time at which an episode ends.
        reward: "graded", or "exact" for none at other times than T (see `nalm.tasks.grid_world.rules`).
        render_mode: "rgb_array" or None.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        instructions: tuple[int, int] = (5, 12),
        limit: int = 20,
        reward: str = "graded",
        render_mode: str | None = None,
    ) -> None:
        self.instructions, self.limit = instructions, limit
        if not 1 <= instructions[0] <= instructions[1] <= limit:
            expected = f"two times from 1 to the limit {limit}, the smaller first"
            raise ArgumentError("instructions", expected, repr(instructions))
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        self.reward, self.render_mode = check_choice("reward", reward, rules.REWARDS), render_mode
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(rules.ACTIONS))
        self.observation_space: spaces.Space[Any] = spaces.Dict(
            {
                "picture": spaces.Box(0, 255, (POINTS, POINTS, 3), np.uint8),
                "instruction": spaces.Box(1, limit, (1,), np.float32),
            }
        )
        self.state: rules.State | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode at random squares; `options` may hold the `instruction`."""
        super().reset(seed=seed)
        low, high = self.instructions
        agent, target = torch.from_numpy(self.np_random.random(2)).unbind()
        drawn = int(self.np_random.integers(low, high + 1))
        told = drawn if options is None else options.get("instruction", drawn)
        if isinstance(told, bool) or not isinstance(told, int) or not 1 <= told <= self.limit:
            raise ArgumentError("instruction", f"a whole number from 1 to {self.limit}", repr(told))
        self.state = rules.start(agent, target, torch.tensor(told))
        return self._observation(), self._about()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move, or pass."""
        self.state, reward = rules.step(self._begun(), torch.tensor(int(action)), self.limit, self.reward)
        arrived = bool(rules.arrival(self.state))
        over = bool(self.state["done"])
        return self._observation(), float(reward), arrived, over and not arrived, self._about()

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of the state, if the render mode is "rgb_array"."""
        return None if self.render_mode is None else self._picture()

    def _observation(self) -> Observation:
        told = float(self._begun()["instruction"])
        return {"picture": self._picture(), "instruction": np.array([told], np.float32)}

    def _picture(self) -> NDArray[np.uint8]:
        state = self._begun()
        shown: NDArray[np.uint8] = picture(int(state["agent"]), int(state["target"])).numpy()
        return shown

    def _about(self) -> dict[str, Any]:
        return {"time": int(self._begun()["time"])}

    def _begun(self) -> rules.State:
        if self.state is None:
            raise ArgumentError("episode", "one that was begun by reset()", "none")
        return self.state
