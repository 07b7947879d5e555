"""A part of a recipe."""

from dataclasses import dataclass, field

from torch import Tensor

from nalm.recipes import Schedule, StepState
from nalm.recipes.schedules import STEPS


@dataclass(frozen=True)
class Pulse(Schedule):
    """On in the second half of every so many steps."""

    every: float = field(default=1000.0, metadata=STEPS)
    height: float = 1.0

    def timing(self) -> str:
        return f"comes every {self.every:g} steps"

    def scale(self, now: StepState) -> Tensor:
        return self.height * (now.step % self.every >= self.every / 2).to(now.loss.dtype)


@dataclass(frozen=True)
class Ramp(Schedule):
    """Named like one of nalm's, and another."""

    length: float = 10.0

    def scale(self, now: StepState) -> Tensor:
        return (now.step / self.length).clamp(0, 1).to(now.loss.dtype)
