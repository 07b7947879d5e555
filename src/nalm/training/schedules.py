"""Schedules: a factor per model as a function of the step and of the last logged validation error.

Every number may be a Python number or a tensor with one value per model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Progress(NamedTuple):
    """Where the runs stand: the step about to be taken and the last logged validation error."""

    step: Tensor
    loss: Tensor


class Schedule:
    """Base of all schedules."""

    def scale(self, progress: Progress) -> Tensor:
        """The factor at this point, shape `models`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Always(Schedule):
    """The factor 1 from the first step."""

    def scale(self, progress: Progress) -> Tensor:
        """The factor at this point, shape `models`."""
        return torch.ones_like(progress.loss)


@dataclass(frozen=True)
class Ramp(Schedule):
    """clip((step - start) / (end - start), 0, 1) (Madsen & Johansen 2020, equation 14)."""

    start: float
    end: float

    def scale(self, progress: Progress) -> Tensor:
        """The factor at this point, shape `models`."""
        done, length = progress.step - self.start, self.end - self.start
        begun = (done >= 0).to(progress.loss.dtype)  # a ramp without length is a jump
        return torch.where(torch.as_tensor(length > 0), (done / length).clamp(0, 1), begun)


@dataclass(frozen=True)
class Growth(Schedule):
    """min(first * factor ** floor(step / every), last) (Heim et al. 2020, section 4.1)."""

    first: float
    last: float
    factor: float = 10.0
    every: float = 10_000.0

    def scale(self, progress: Progress) -> Tensor:
        """The factor at this point, shape `models`."""
        factor = torch.as_tensor(self.factor, dtype=progress.loss.dtype)
        last = torch.as_tensor(self.last, dtype=progress.loss.dtype)
        return torch.minimum(self.first * factor ** torch.floor(progress.step / self.every), last)


@dataclass(frozen=True)
class WhenLossBelow(Schedule):
    """1 past the step `after` while the last logged error is below `bound`, else 0 (iNALU's trigger)."""

    bound: float = 1.0
    after: float = 10_000.0

    def scale(self, progress: Progress) -> Tensor:
        """The factor at this point, shape `models`."""
        on = (progress.step > self.after) & (progress.loss < self.bound)
        return on.to(progress.loss.dtype)
