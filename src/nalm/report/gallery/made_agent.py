r"""An agent of the grid world that is made by hand: what a unit that counts is good for.

.. math:: s_t = s_{t-1} + NAU([T \text{ at the first step, else } 0, 1]), \quad W = (1, -1)

The sum is the time left after this step, as in `CountingAgent`. The agent waits until that is less than the
way to the red square, then walks. Where it and the red square are is read off the picture by a fixed rule.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.models.agents import Agent, Nothing
from nalm.tasks.grid_world.pictures import POINTS
from nalm.tasks.grid_world.rules import ACTIONS, SIDE, distance, moved
from nalm.units import NAU


class _Looks(nn.Module):
    """From pictures to the squares of the agent and of the target: the greyest and the reddest of all."""

    def forward(self, pictures: Tensor) -> Tensor:
        """`n x 3 x 56 x 56` to `n x 2`."""
        wide = POINTS // SIDE
        middles = torch.arange(SIDE) * wide + wide // 2 + 1
        red, green, _ = pictures[:, :, middles][..., middles].flatten(2).unbind(1)
        return torch.stack([green.argmax(-1), (red - green).argmax(-1)], -1).to(pictures.dtype)


class MadeAgent(Agent):
    """Waits as long as there is time, then walks the shortest way: it arrives at T if that is possible."""

    memory_size = 1

    def __init__(self) -> None:
        unit = NAU(2, 1)
        unit.ideal_("sub", 0, 1)
        super().__init__(unit, len(ACTIONS))
        self.eye = nn.Sequential(_Looks())
        self.actor, self.critic = nn.Identity(), Nothing(len(ACTIONS), 1)  # type: ignore[assignment]

    def think(self, seen: Tensor, instruction: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of the actions, and the count."""
        time, first = instruction.unbind(-1)
        left = memory + self.unit(torch.stack([time * first, torch.ones_like(time)], -1))
        agent, target = seen.long().unbind(-1)
        after = torch.stack([distance(moved(agent, torch.full_like(agent, k)), target)
                             for k in range(len(ACTIONS))], -1)  # fmt: skip
        waits = left >= distance(agent, target)[:, None]
        away = after != after.amin(-1, keepdim=True)
        away_or_moving = torch.where(waits, torch.arange(len(ACTIONS)) != ACTIONS.index("PASS"), away)
        return -away_or_moving.to(seen.dtype), left
