"""What is measured of episodes in the grid world.

An episode has the time of arrival, 0 for never, as its outcome, and two numbers beside it: the instruction,
and whether it is possible to arrive at that time.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.tasks.measures import Measure


@dataclass(frozen=True)
class Missed(Measure):
    """The share of episodes in which the agent could have arrived at the time it was told, but did not."""

    name: str = "missed"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of such episodes, shape `models`."""
        return _missed(prediction, target).sum(-1)


@dataclass(frozen=True)
class ByInstruction(Measure):
    """Base of measures with a row for each instruction; a row without episodes is 0.

    Attributes:
        instructions: all of them.
    """

    name: str = "by_instruction"
    instructions: tuple[int, ...] = ()

    def rows(self, target: Tensor) -> Tensor:
        """Whether an episode has an instruction, `models x n x instructions`, 1 or 0."""
        times = torch.tensor(self.instructions, device=target.device, dtype=target.dtype)
        return (target[..., :1] == times).to(target.dtype)


@dataclass(frozen=True)
class MissedByTime(ByInstruction):
    """`Missed` for each instruction, among the episodes in which it was possible to arrive in time."""

    name: str = "missed_by_time"

    @property
    def shape(self) -> tuple[int, ...]:
        """One value for each instruction."""
        return (len(self.instructions),)

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over episodes, `models x instructions`."""
        can = self.rows(target) * target[..., 1:]
        return (_missed(prediction, target)[..., None] * _evened(can)).sum(1)


@dataclass(frozen=True)
class Arrivals(ByInstruction):
    """The share of episodes with each instruction that ended by arriving at each time; column 0 is never."""

    name: str = "arrivals"
    limit: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """A row for each instruction, a column for each time."""
        return (len(self.instructions), self.limit + 1)

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over episodes, `models x instructions x times`."""
        times = torch.arange(self.limit + 1, device=target.device, dtype=prediction.dtype)
        at = (prediction[..., :1] == times).to(target.dtype)
        return torch.einsum("mni,mnt->mit", _evened(self.rows(target)), at)


def _missed(prediction: Tensor, target: Tensor) -> Tensor:
    """1 for an episode that could have been rewarded but was not, else 0: `models x n`."""
    instruction, can = target.unbind(-1)
    return can * (prediction[..., 0] != instruction).to(target.dtype)


def _evened(belongs: Tensor) -> Tensor:
    """Rows `models x n x rows` with weights: the mean over n is then that over a row's own episodes."""
    return belongs * belongs.shape[1] / belongs.sum(1, keepdim=True).clamp(min=1)
