r"""The agent of Trask et al. 2018, section 4.5: a convnet, an LSTM as its memory, an actor and a critic.

.. math::
    v = conv(picture), \quad (h, c) = LSTM([v, T, unit(T)], (h, c)), \quad
    scores = A h + a, \quad value = b h + \beta

The instruction T is an input beside what the convnet sees; in the paper's variant it also passes through a
NAC into the LSTM. The plain agent has `none` in place of the unit.

Ours, because the paper names no sizes: the convnet of A3C (Mnih et al. 2016: 16 filters of 8 x 8, then 32 of
4 x 4) with the strides 8 and 1, because pictures have 56 points and a CPU trains it; 64 values seen, an LSTM
of 64, one number from the NAC.

`CountingAgent` is not of the paper. Its only memory is a running sum of what the unit makes of T, which it is
told at the first step alone, and of a tick of 1 at every step: with the weights 1 and -1, the time left.

.. math:: s_t = s_{t-1} + unit([T \text{ at the first step, else } 0, 1]), \quad h = tanh(H [v, s_t] + \eta)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import check_choice

SEEN = 64
MEMORY = 64


def convnet() -> nn.Sequential:
    """From pictures `n x 3 x 56 x 56` to what is seen, `n x 64`."""
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 8, stride=8), nn.ReLU(), nn.Conv2d(16, 32, 4), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(32 * 4 * 4, SEEN), nn.ReLU()),
    )


class Agent(nn.Module):
    """Base of agents: what they see, their scores for actions and their estimate of the reward to come.

    Few pictures differ, so that each is looked at once per batch of episodes: called with pictures alone, an
    agent returns what it sees, and called with that, the instruction and its memory, it takes a step.

    Args:
        unit: what the instruction passes through.
        actions: number of actions.
    """

    memory_size: int
    """Number of values in the memory, which are 0 at the start of an episode."""

    def __init__(self, unit: nn.Module, actions: int) -> None:
        super().__init__()
        self.actions, self.unit = actions, unit
        self.eye = convnet()
        self.actor = nn.Linear(MEMORY, actions)
        self.critic = nn.Linear(MEMORY, 1)

    def forward(
        self, seen: Tensor, instruction: Tensor | None = None, memory: Tensor | None = None
    ) -> Tensor:
        """What is seen, `n x 64`; or a step: scores, value and the new memory side by side.

        Args:
            seen: pictures `n x 3 x 56 x 56` alone; or what was seen, `n x 64`.
            instruction: the time T, and 1 at the first step of an episode, else 0: `n x 2`.
            memory: `n x memory_size`.
        """
        if instruction is None or memory is None:
            views: Tensor = self.eye(seen)
            return views
        hidden, after = self.think(seen, instruction, memory)
        return torch.cat([self.actor(hidden), self.critic(hidden), after], -1)

    def think(self, seen: Tensor, instruction: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """What actor and critic take, `n x 64`, and the new memory."""
        raise NotImplementedError


class InstructedAgent(Agent):
    """The agent of the paper, whose unit takes T and whose memory is an LSTM."""

    memory_size = 2 * MEMORY
    unit_features = (1, 1)

    def __init__(self, unit: nn.Module, actions: int) -> None:
        super().__init__(unit, actions)
        self.core = nn.LSTMCell(SEEN + 1 + self.unit_features[1], MEMORY)

    def think(self, seen: Tensor, instruction: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """A step of the LSTM."""
        time = instruction[..., :1]
        hidden, cell = self.core(torch.cat([seen, time, self.unit(time)], -1), tuple(memory.chunk(2, -1)))
        return hidden, torch.cat([hidden, cell], -1)


class CountingAgent(Agent):
    """An agent whose only memory is one number, a running sum of what the unit computes."""

    memory_size = 1
    unit_features = (2, 1)

    def __init__(self, unit: nn.Module, actions: int) -> None:
        super().__init__(unit, actions)
        self.core = nn.Linear(SEEN + 1, MEMORY)

    def think(self, seen: Tensor, instruction: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """A step of the count."""
        time, first = instruction.unbind(-1)
        told = torch.stack([time * first, torch.ones_like(time)], -1)
        count = memory + self.unit(told)
        return self.core(torch.cat([seen, count], -1)).tanh(), count


AGENTS: dict[str, type[InstructedAgent] | type[CountingAgent]] = {
    "instruct": InstructedAgent,
    "count": CountingAgent,
}
"""Agents by what their unit does."""


def agent_kind(name: str) -> type[InstructedAgent] | type[CountingAgent]:
    """The class of an agent."""
    return AGENTS[check_choice("op", name, AGENTS)]


class Nothing(nn.Module):
    """Nothing in place of a unit: its outputs are 0, and it has no weights.

    Args:
        in_features: number of inputs, which it ignores.
        out_features: number of outputs.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features

    def forward(self, input: Tensor) -> Tensor:
        """`... x in_features` to zeros, `... x out_features`."""
        return input.new_zeros(*input.shape[:-1], self.out_features)
