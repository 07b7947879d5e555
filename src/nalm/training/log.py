"""The curves of a batch, and the parameters at the lowest validation error so far."""

from __future__ import annotations

import torch
from torch import Tensor

from nalm.training.models import Parameters


class Log:
    """The curves of a batch, and the parameters at the lowest validation error so far."""

    def __init__(self, runs: int, device: torch.device) -> None:
        self.steps: list[int] = []
        self.validation: list[Tensor] = []
        self.test: list[Tensor] = []
        self.lowest = torch.full((runs,), torch.inf, dtype=torch.float64, device=device)
        self.chosen = torch.zeros(runs, dtype=torch.long, device=device)
        self.chosen_parameters: Parameters = {}
        self.final: Parameters = {}
        self.diverged_at = torch.full((runs,), -1, dtype=torch.long, device=device)
        self.reinitialised = torch.zeros(runs, dtype=torch.long, device=device)
        self.compiled = False

    def add(self, step: int, validation: Tensor, test: Tensor, parameters: Parameters) -> None:
        """Take the errors and the parameters at a step."""
        if not self.steps:
            self.chosen_parameters = dict(parameters)
        better = validation < self.lowest
        self.lowest = torch.where(better, validation, self.lowest)
        self.chosen = torch.where(better, len(self.steps), self.chosen)
        self.chosen_parameters = {
            name: torch.where(wide(better, p), p, self.chosen_parameters[name])
            for name, p in parameters.items()
        }
        finite = validation.isfinite()
        for p in parameters.values():
            finite = finite & p.isfinite().reshape(p.shape[0], -1).all(-1)
        newly = ~finite & (self.diverged_at < 0)
        self.diverged_at = torch.where(newly, step, self.diverged_at)
        self.steps.append(step)
        self.validation.append(validation)
        self.test.append(test)


def wide(flags: Tensor, like: Tensor) -> Tensor:
    """One flag per model, shaped to broadcast over `like` of shape `models x ...`."""
    return flags.reshape((-1,) + (1,) * (like.dim() - 1))
