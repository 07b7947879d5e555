"""Clamps keep parameters within bounds after each optimiser step, in place."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from nalm.recipes.subject import subjects_of


class Clamp:
    """Base of all clamps."""

    def __call__(self, model: nn.Module) -> None:
        """Change the model's parameters in place."""
        raise NotImplementedError


@dataclass(frozen=True)
class Project(Clamp):
    """Move every unit's parameters back into its own admissible set."""

    def __call__(self, model: nn.Module) -> None:
        """Change the model's parameters in place."""
        for unit in subjects_of(model):
            unit.project_()


@dataclass(frozen=True)
class Bound(Clamp):
    """Clamp parameters of this name to [low, high], in every unit or only in units named `unit`."""

    parameter: str
    low: float
    high: float
    unit: str | None = None

    def __call__(self, model: nn.Module) -> None:
        """Change the model's parameters in place."""
        for unit in subjects_of(model, self.unit):
            held = getattr(unit, self.parameter, None)
            if isinstance(held, torch.Tensor):
                lead = (-1,) + (1,) * (held.dim() - 1)
                low, high = (
                    torch.as_tensor(b, dtype=held.dtype).reshape(lead) for b in (self.low, self.high)
                )
                with torch.no_grad():
                    held.copy_(torch.minimum(torch.maximum(held, low), high))
