"""Schedules: a factor per model as a function of the step and of the last logged validation error.

Every number may be a Python number or a tensor with one value per model. Fields that are marked as steps are
scaled when a recipe is shortened, see `nalm.recipes.steps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

STEPS = {"steps": True}
"""Metadata of a field that is a number of steps."""


class StepState(NamedTuple):
    """The state of the runs: the step about to be taken and the last logged validation error."""

    step: Tensor
    loss: Tensor


class Schedule:
    """Base of all schedules."""

    def scale(self, now: StepState) -> Tensor:
        """The factor at this point, shape `models`."""
        raise NotImplementedError

    def timing(self) -> str:
        """When it acts, in words; empty if it never changes."""
        return ""

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        return ""


@dataclass(frozen=True)
class Always(Schedule):
    """The factor 1 from the first step."""

    def scale(self, now: StepState) -> Tensor:
        """The factor at this point, shape `models`."""
        return torch.ones_like(now.loss)


@dataclass(frozen=True)
class Ramp(Schedule):
    """clip((step - start) / (end - start), 0, 1) (Madsen & Johansen 2020, equation 14)."""

    start: float = field(metadata=STEPS)
    end: float = field(metadata=STEPS)

    def timing(self) -> str:
        """When it acts, in words."""
        return f"ramps from step {_number(self.start)} to {_number(self.end)}"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        if steps <= self.start:
            return f"never begins: it {self.timing()}"
        return f"is not fully on: it {self.timing()}" if steps < self.end else ""

    def scale(self, now: StepState) -> Tensor:
        """The factor at this point, shape `models`."""
        done, length = now.step - self.start, self.end - self.start
        begun = (done >= 0).to(now.loss.dtype)  # a ramp of length zero is a jump
        return torch.where(torch.as_tensor(length > 0), (done / length).clamp(0, 1), begun)


@dataclass(frozen=True)
class Growth(Schedule):
    """min(first * factor ** floor(step / every), last) (Heim et al. 2020, section 4.1)."""

    first: float
    last: float
    factor: float = 10.0
    every: float = field(default=10_000.0, metadata=STEPS)

    def timing(self) -> str:
        """When it acts, in words."""
        return f"grows every {_number(self.every)} steps"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        times = math.ceil(round(math.log(self.last / self.first, self.factor), 9)) if self._grows() else 0
        if steps > times * self.every:
            return ""
        reached = min(self.last, self.first * self.factor ** ((steps - 1) // self.every))
        return f"grows to {reached:g} instead of {self.last:g}: it {self.timing()}"

    def _grows(self) -> bool:
        return self.factor > 1 and 0 < self.first < self.last and self.every > 0

    def scale(self, now: StepState) -> Tensor:
        """The factor at this point, shape `models`."""
        factor = torch.as_tensor(self.factor, dtype=now.loss.dtype)
        last = torch.as_tensor(self.last, dtype=now.loss.dtype)
        return torch.minimum(self.first * factor ** torch.floor(now.step / self.every), last)


@dataclass(frozen=True)
class WhenLossBelow(Schedule):
    """1 after step `after` while the last logged error is below `bound`, else 0 (iNALU's trigger)."""

    bound: float = 1.0
    after: float = field(default=10_000.0, metadata=STEPS)

    def timing(self) -> str:
        """When it acts, in words."""
        return f"may begin after step {_number(self.after)}"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        return f"never begins: it {self.timing()}" if steps <= self.after + 1 else ""

    def scale(self, now: StepState) -> Tensor:
        """The factor at this point, shape `models`."""
        on = (now.step > self.after) & (now.loss < self.bound)
        return on.to(now.loss.dtype)


def _number(value: Any) -> str:
    return f"{float(value):,.10g}"
