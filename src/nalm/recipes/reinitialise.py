"""Reinitialisation: give a run that is stuck new initial weights (iNALU, Schlör et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Reinitialise:
    """Start again when the second half of the stored losses is no better than the first.

    This is checked every `every` steps, once more than `stored` losses have been collected since the last
    start. The condition is mean(first half) <= mean(second half) + std(second half) and
    mean(second half) > `floor`. The optimiser's state is kept.

    Deviations: the loss of a step is the last logged validation error, as in the public version; the thesis
    means the loss of each step. The thesis stores 10,000 losses in section 2.2.2 and 5,000 in table E.3. A
    recipe for fewer steps keeps the number, because losses are known only once per logging interval.
    """

    stored: int = 10_000
    floor: float = 1.0
    every: int = 10

    def timing(self) -> str:
        """When it acts, in words."""
        return f"may begin after step {self.stored:,}"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        return f"never happens: it {self.timing()}" if steps <= self.stored else ""

    def stuck(self, logged: Tensor, interval: int, began: Tensor, step: int) -> Tensor:
        """Which models need new weights, shape `models`.

        Args:
            logged: validation errors at steps 0, interval, 2 * interval, …, shape `models x logs`.
            interval: steps between two of them.
            began: step at which each model last started, shape `models`.
            step: the step about to be taken.
        """
        # A mean above the floor needs an error above it: most models need no further look.
        due = (step - began > self.stored) & (logged > self.floor).any(-1)
        found = torch.zeros_like(due)
        if due.any():
            found[due] = self._no_better(logged[due], interval, began[due], step)
        return found

    def _no_better(self, logged: Tensor, interval: int, began: Tensor, step: int) -> Tensor:
        """Whether the second half of the losses is no better than the first, and above the floor."""
        middle = began + (step - began) / 2
        starts = torch.arange(logged.shape[-1], device=logged.device) * interval
        first = _overlap(starts, interval, began, middle)
        second = _overlap(starts, interval, middle, torch.full_like(middle, step))
        before, after = _mean(logged, first), _mean(logged, second)
        spread = (_mean((logged - after[:, None]).square(), second)).clamp(min=0).sqrt()
        return (before <= after + spread) & (after > self.floor)


def _overlap(starts: Tensor, interval: int, low: Tensor, high: Tensor) -> Tensor:
    """How many steps of [low, high) have each logged error, which holds until the next one."""
    ends = starts + interval
    return (torch.minimum(ends, high[:, None]) - torch.maximum(starts, low[:, None])).clamp(min=0)


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum(-1) / weights.sum(-1).clamp(min=1e-12)
