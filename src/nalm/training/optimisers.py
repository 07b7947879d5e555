"""Optimisers as pure functions on a model axis. They take the same steps as torch.optim, model by model.

Parameters, gradients and state are dictionaries of tensors `models x ...`; rates are one per model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_positive
from nalm.training.gradients import Gradients, per_model

Parameters = dict[str, Tensor]
State = dict[str, Tensor]


class Optimiser:
    """Base of all optimisers."""

    learning_rate: float
    work: ClassVar[int] = 1
    """What a step costs, roughly, in steps of first order."""

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        raise NotImplementedError

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        raise NotImplementedError


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam (Kingma & Ba 2015)."""

    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        first = next(iter(parameters.values()))
        # The running powers of the betas replace a power per step; float64 because 1 - beta2 is small.
        ones = torch.ones(first.shape[0], dtype=torch.float64, device=first.device)
        state = {"power1": ones, "power2": ones.clone()}
        for name, p in parameters.items():
            state[f"mean:{name}"] = torch.zeros_like(p)
            state[f"square:{name}"] = torch.zeros_like(p)
        return state

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        power1, power2 = state["power1"] * self.beta1, state["power2"] * self.beta2
        rate, root = self.learning_rate / (1 - power1), (1 - power2).sqrt()
        after, new = {}, {"power1": power1, "power2": power2}
        for name, p in parameters.items():
            g = gradients[name]
            mean = state[f"mean:{name}"] + (g - state[f"mean:{name}"]) * per_model(1 - self.beta1, p)
            square = state[f"square:{name}"] * per_model(self.beta2, p) + g * g * per_model(1 - self.beta2, p)
            denominator = square.sqrt() / per_model(root, p) + per_model(self.epsilon, p)
            after[name] = p - per_model(rate, p) * (mean / denominator)
            new[f"mean:{name}"], new[f"square:{name}"] = mean, square
        return after, new


@dataclass(frozen=True)
class SGD(Optimiser):
    """Gradient descent; `momentum` None leaves the velocity out altogether."""

    learning_rate: float = 1e-3
    momentum: float | None = None

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        if self.momentum is None:
            return {}
        return {f"velocity:{name}": torch.zeros_like(p) for name, p in parameters.items()}

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        after, new = {}, {}
        for name, p in parameters.items():
            move = gradients[name]
            if self.momentum is not None:
                move = state[f"velocity:{name}"] * per_model(self.momentum, p) + move
                new[f"velocity:{name}"] = move
            after[name] = p - per_model(self.learning_rate, p) * move
        return after, new


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """RMSProp (Tieleman & Hinton 2012)."""

    learning_rate: float = 1e-2
    decay: float = 0.99
    epsilon: float = 1e-8

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        return {f"square:{name}": torch.zeros_like(p) for name, p in parameters.items()}

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        after, new = {}, {}
        for name, p in parameters.items():
            g, decay = gradients[name], per_model(self.decay, p)
            square = state[f"square:{name}"] * decay + g * g * (1 - decay)
            after[name] = p - per_model(self.learning_rate, p) * g / (
                square.sqrt() + per_model(self.epsilon, p)
            )
            new[f"square:{name}"] = square
        return after, new


@dataclass(frozen=True)
class LevenbergMarquardt(Optimiser):
    """Second-order training in float64 from a population of starts (see `nalm.second_order`).

    It replaces the whole step: loss, penalties, clips and clamps of a recipe have no part in it, and the
    weights are made discrete at the end. `iterations` of the recipe are steps at most of each start.

    Args:
        starts: starts drawn from the units' own initial weights.
        grow: begin with starts that are grown on the data.
    """

    starts: int = field(default=4, metadata={"shape": True})
    grow: bool = field(default=True, metadata={"shape": True})

    work: ClassVar[int] = 2000

    @property
    def learning_rate(self) -> float:  # type: ignore[override]
        """The whole step is taken; its length is found anew in every step."""
        return 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.grow, bool):
            raise ArgumentError("grow", "True or False", repr(self.grow))
        if not (self.starts == 0 and self.grow):
            check_positive("starts", self.starts)

    def start(self, parameters: Parameters) -> State:
        """Nothing is carried from step to step that a user would see."""
        return {}
