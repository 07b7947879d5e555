r"""The rules of the grid world, for any number of episodes at once (Trask et al. 2018, section 4.5).

An agent and a red square stand on different squares of a grid of 5 x 5. Every action moves the agent by one
square, or not at all; a move against the wall does nothing. The agent is told a time T, and an episode ends
when it steps on the red square, at time t, or at t = L. There is "the maximum episode reward m" for t = T,
and an agent that always arrives at 12 gets "incrementally less reward with larger stimuli".

Ours, because the paper states neither m, L nor how much less: m = 1, L is given by the caller, the reward is

.. math:: graded: \max(0, 1 - |t - T| / T), \quad exact: 1 \text{ if } t = T, \text{ else } 0

All randomness is handed in as uniform numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

State = dict[str, Tensor]
"""Episodes of any shape: `agent` and `target` (squares, counted by rows), `instruction`, `time`, `done`."""

SIDE = 5
SQUARES = SIDE * SIDE
ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT", "PASS")
REWARDS = ("graded", "exact")
_DOWN, _RIGHT = (-1, 1, 0, 0, 0), (0, 0, -1, 1, 0)


def start(agent: Tensor, target: Tensor, instruction: Tensor) -> State:
    """Episodes at t = 0, from uniform numbers for the two squares, and the times that agents are told."""
    first = _whole(agent, SQUARES)
    other = _whole(target, SQUARES - 1)  # of the squares that are left
    return {
        "agent": first,
        "target": other + (other >= first),
        "instruction": instruction,
        "time": torch.zeros_like(first),
        "done": torch.zeros_like(first, dtype=torch.bool),
    }


def step(state: State, action: Tensor, limit: int | Tensor, reward: str = "graded") -> tuple[State, Tensor]:
    """The state after an action, and the reward for it; nothing happens in an episode that is over."""
    over, time = state["done"], state["time"] + 1
    agent = moved(state["agent"], action)
    arrives = (agent == state["target"]) & ~over
    after = {
        **state,
        "agent": torch.where(over, state["agent"], agent),
        "time": torch.where(over, state["time"], time),
        "done": over | arrives | (time >= limit),
    }
    return after, torch.where(arrives, reward_at(time, state["instruction"], reward), 0.0)


def moved(place: Tensor, action: Tensor) -> Tensor:
    """The square that an action leads to."""
    down, right = (torch.tensor(by, device=place.device)[action] for by in (_DOWN, _RIGHT))
    row = (place // SIDE + down).clamp(0, SIDE - 1)
    column = (place % SIDE + right).clamp(0, SIDE - 1)
    return row * SIDE + column


def reward_at(time: Tensor, instruction: Tensor, reward: str = "graded") -> Tensor:
    """The reward for arriving at a time."""
    if reward == "exact":
        return (time == instruction).float()
    return (1 - (time - instruction).abs() / instruction).clamp(min=0)


def arrival(state: State) -> Tensor:
    """The time of arrival in episodes that are over; 0 if the agent never arrived."""
    return torch.where(state["agent"] == state["target"], state["time"], 0)


def distance(agent: Tensor, target: Tensor) -> Tensor:
    """The number of steps that the shortest way takes."""
    down = (agent // SIDE - target // SIDE).abs()
    return down + (agent % SIDE - target % SIDE).abs()


def _whole(u: Tensor, below: int) -> Tensor:
    """A whole number below a bound, from a uniform number."""
    return (u * below).long().clamp(max=below - 1)
