"""The curves of a batch, the parameters over time, and those at the lowest validation error so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from nalm.models.many import Parameters

_PER_RUN = ("lowest", "chosen", "diverged_at", "reinitialised")
HISTORY_POINTS = 64
"""The largest number of steps at which parameters are kept over time."""


class Log:
    """The curves of a batch, the parameters over time, and those at the lowest validation error so far.

    Args:
        runs: how many models.
        iterations: the last step.
        interval: steps between logs.
        device: where the models are.
        followed: names of the parameters to keep over time.

    Attributes:
        on_added: called with each step that is added, its decisive errors on the validation set and on the
            first test set, and its parameters.
    """

    def __init__(
        self, runs: int, iterations: int, interval: int, device: torch.device, followed: Sequence[str]
    ) -> None:
        self.iterations, self.followed = iterations, followed
        # One point is reserved for the last step, which may fall between two intervals.
        self.history_interval = interval * -(-(iterations // interval + 1) // (HISTORY_POINTS - 1))
        self.history_steps: list[int] = []
        self.history: list[Parameters] = []
        self.steps: list[int] = []
        self.validation: list[Tensor] = []
        self.test: list[Tensor] = []
        self.further: dict[str, list[Tensor]] = {}
        self.lowest = torch.full((runs,), torch.inf, dtype=torch.float64, device=device)
        self.chosen = torch.zeros(runs, dtype=torch.long, device=device)
        self.chosen_parameters: Parameters = {}
        self.final: Parameters = {}
        self.diverged_at = torch.full((runs,), -1, dtype=torch.long, device=device)
        self.reinitialised = torch.zeros(runs, dtype=torch.long, device=device)
        self.compiled = False
        self.on_added: Callable[[int, Tensor, Tensor, Parameters], None] = lambda *_: None

    def add(self, step: int, errors: dict[str, dict[str, Tensor]], parameters: Parameters) -> None:
        """Add the errors, by split and name, and the parameters at a step; the first error is decisive."""
        curves = {f"{split}/{name}": e for split, named in errors.items() for name, e in named.items()}
        validation, test = (next(iter(named.values())) for named in list(errors.values())[:2])
        decisive = {id(validation), id(test)}
        for name, error in curves.items():
            if id(error) not in decisive:
                self.further.setdefault(name, []).append(error)
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
        self._remember(step, parameters)
        self.on_added(step, validation, test, parameters)

    def state_to_keep(self) -> tuple[Parameters, dict[str, Any]]:
        """Everything logged so far, as tensors by name and as plain data."""
        lists = {"validation": self.validation, "test": self.test, **self.further}
        tensors = {f"curve/{name}": torch.stack(curve, -1) for name, curve in lists.items() if curve}
        tensors |= {f"chosen/{name}": p for name, p in self.chosen_parameters.items()}
        tensors |= {f"history/{name}": p for name, p in self.over_time().items()}
        tensors |= {name: getattr(self, name) for name in _PER_RUN}
        return tensors, {"steps": self.steps, "history_steps": self.history_steps}

    def load_state(self, tensors: Parameters, about: dict[str, Any]) -> None:
        """Restore what `state_to_keep` returned."""
        parts: dict[str, Parameters] = {"curve": {}, "chosen": {}, "history": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition("/")
            if rest:
                parts[kind][rest] = tensor
            else:
                setattr(self, name, tensor)
        curves = {name: list(curve.unbind(-1)) for name, curve in parts["curve"].items()}
        self.validation, self.test = curves.pop("validation"), curves.pop("test")
        self.further, self.chosen_parameters = curves, parts["chosen"]
        self.steps, self.history_steps = list(about["steps"]), list(about["history_steps"])
        held = {name: p.unbind(1) for name, p in parts["history"].items()}
        self.history = [{name: p[k] for name, p in held.items()} for k in range(len(self.history_steps))]

    def over_time(self) -> Parameters:
        """The parameters at `history_steps`, `models x points x ...` by name; none if they were not kept."""
        names = self.history[0] if self.history else ()
        return {name: torch.stack([held[name] for held in self.history], 1) for name in names}

    def _remember(self, step: int, parameters: Parameters) -> None:
        """Keep the followed parameters every `history_interval` steps, and at the last step."""
        if self.followed and (step % self.history_interval == 0 or step == self.iterations):
            self.history_steps.append(step)
            # A copy: the program that trains may write over its inputs.
            self.history.append({name: parameters[name].detach().clone() for name in self.followed})


def wide(flags: Tensor, like: Tensor) -> Tensor:
    """One flag per model, shaped to broadcast over `like` of shape `models x ...`."""
    return flags.reshape((-1,) + (1,) * (like.dim() - 1))
