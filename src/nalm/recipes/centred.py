"""An optimiser in coordinates in which inputs far from zero do no harm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.recipes.gradients import Gradients
from nalm.recipes.model_axis import per_model
from nalm.recipes.optimisers import Adam, LevenbergMarquardt, Optimiser, Parameters, State


@dataclass(frozen=True)
class Centred(Optimiser):
    r"""Another optimiser, run in coordinates in which inputs far from zero do no harm.

    Inputs :math:`x = \mu + \tilde x` whose mean is large compared with their deviation :math:`\sigma` make
    the loss of a sum :math:`w x` steep along :math:`\mu` and flat across. Weights are written as
    :math:`w = v T` with :math:`T = I - (1 - r) \hat\mu \hat\mu^T, r = \sigma / \sqrt{\sigma^2 + \mu^2}`, and
    the optimiser works on :math:`v`, in which the loss is equally steep in all directions. The weights
    themselves, their penalties and their clamps do not change. It costs two scalar products per row and step.

    Args:
        optimiser: the other optimiser.
        warm: steps before these coordinates are used. In these coordinates weights move slowly along the
            mean, so the outputs should first be right on average. After `warm` steps the other optimiser
            restarts with a fresh state: its memory of the first steep gradients would slow it down for
            thousands of steps.
    """

    optimiser: Optimiser = Adam()
    warm: float = 2000.0

    looks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.optimiser, (Centred, LevenbergMarquardt)):
            raise ArgumentError(
                "optimiser", "a first-order optimiser that is not itself Centred", repr(self.optimiser)
            )
        if isinstance(self.warm, bool) or not isinstance(self.warm, (int, float)) or self.warm < 0:
            raise ArgumentError("warm", "a number of steps, 0 or more", repr(self.warm))

    @property
    def learning_rate(self) -> float:  # type: ignore[override]
        """The learning rate of the other optimiser."""
        return self.optimiser.learning_rate

    def start(self, parameters: Parameters) -> State:
        """The state before the first step: there is no direction until inputs are seen."""
        state = self.optimiser.start(parameters)
        first = next(iter(parameters.values()))
        state["taken"] = torch.zeros(first.shape[0], dtype=first.dtype, device=first.device)
        for name, p in parameters.items():
            if p.dim() == 3:
                state[f"direction:{name}"] = torch.zeros_like(p[:, 0])
        return state

    def look(self, state: State, names: Sequence[str], x: Tensor) -> State:
        """Store the direction of the mean input; its squared length is the share 1 - r to be removed."""
        mean = x.mean(-2)
        deviation = (x - mean[..., None, :]).square().mean((-2, -1)).sqrt()
        length = mean.square().sum(-1).sqrt()
        removed = 1 - deviation / (deviation.square() + length.square()).sqrt()
        unit = mean / length.clamp_min(torch.finfo(x.dtype).tiny)[:, None]
        # Inputs that never change, or are all zero, give no reason to favour the other directions.
        removed = torch.where((deviation > 0) & (length > 0), removed, 0.0)
        seen = {f"direction:{name}": unit * removed.sqrt()[:, None] for name in names}
        fitting = {name: d for name, d in seen.items() if name in state and d.shape == state[name].shape}
        return {**state, **fitting}

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        own = {name: d for name, d in state.items() if name == "taken" or name.startswith("direction:")}
        inner = {name: value for name, value in state.items() if name not in own}
        warm = torch.as_tensor(self.warm, dtype=own["taken"].dtype, device=own["taken"].device)
        reached = own["taken"] >= warm
        switch, share = reached & (own["taken"] - 1 < warm), reached.to(own["taken"].dtype)
        for name, fresh in self.optimiser.start(parameters).items():
            inner[name] = torch.where(per_model(switch, fresh) > 0, fresh, inner[name])

        def centred(moves: Gradients) -> Gradients:
            found = {name: own.get(f"direction:{name}") for name in moves}
            return {
                name: m if (d := found[name]) is None else _without(m, d, per_model(share, m))
                for name, m in moves.items()
            }

        after, inner = self.optimiser.step(parameters, centred(gradients), inner)
        moves = centred({name: after[name] - p for name, p in parameters.items()})
        after = {name: p + moves[name] for name, p in parameters.items()}
        return after, {**inner, **own, "taken": own["taken"] + 1}


def _without(rows: Tensor, direction: Tensor, share: Tensor) -> Tensor:
    """Rows `models x out x in` minus `share` of their part along `direction`, times its squared length."""
    along = (rows * direction[:, None]).sum(-1, keepdim=True)
    return rows - share * along * direction[:, None]
