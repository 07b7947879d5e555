"""Several starts of one model in a user's own loop: each is trained for a while, the best goes on."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError
from nalm.units._base import Unit

JUDGED = 0.2
"""The share of a start's steps, its last ones, by whose mean loss it is judged."""


class Starts:
    """Tries `count` starts in the first `steps` steps, then puts the best one back.

    The first start is the model as it is. The others have new weights in the units, and in all else what the
    model had at first.

    Args:
        model: the model.
        units: its units that are trained.
        count: how many starts; 1 is no search.
        steps: steps for all of them together.
    """

    def __init__(self, model: nn.Module, units: Sequence[Unit], count: int, steps: int) -> None:
        self.model, self.units, self.count = model, units, count
        self.length = steps // count
        self.steps = self.length * count if count > 1 else 0
        if count > 1 and self.length < 1:
            raise ArgumentError("starts", f"at most {steps}, so that each has a step", count)
        if count > 1 and any(unit.batch_shape for unit in units):
            hint = "Models of a batch are starts already: keep the best of them."
            raise ArgumentError("starts", "1 for units with a batch_shape", count, hint)
        if count > 1 and torch.distributed.is_available() and torch.distributed.is_initialized():
            hint = "Find a start in one process, and load its weights in all."
            raise ArgumentError("starts", "1 under torch.distributed", count, hint)
        self.first = self._state() if count > 1 else {}
        self.best: dict[str, Any] | None = None
        self.best_loss = torch.inf
        self.seen: list[Tensor] = []

    def saw(self, step: int, loss: Tensor) -> None:
        """Take note of the loss of a step."""
        if step < self.steps and step % self.length >= (1 - JUDGED) * self.length:
            self.seen.append(loss.detach().mean())

    def moved(self, step: int) -> bool:
        """Judge a start that has ended before this step, and go to the next or to the best of all."""
        if self.count == 1 or step > self.steps or step % self.length:
            return False
        if not self.seen:
            hint = "Starts are judged by the loss that `penalty(loss)` is given."
            raise ArgumentError("starts", "1 where `penalty(loss)` is not called", self.count, hint)
        loss = float(torch.stack(self.seen).mean())
        self.seen = []
        if self.best is None or loss < self.best_loss:
            self.best, self.best_loss = self._state(), loss
        if step == self.steps:
            self.model.load_state_dict(self.best)
            self.first, self.best = {}, None
        else:
            self.model.load_state_dict(self.first)
            for unit in self.units:
                unit.reset_parameters()
        return True

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"first": self.first, "best": self.best, "best_loss": self.best_loss, "seen": list(self.seen)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.first, self.best = state["first"], state["best"]
        self.best_loss, self.seen = state["best_loss"], list(state["seen"])

    def _state(self) -> dict[str, Any]:
        return copy.deepcopy(self.model.state_dict())
