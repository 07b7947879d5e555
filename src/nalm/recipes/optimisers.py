"""Optimisers as pure functions over a model axis. Each model takes the same steps as with torch.optim.

Parameters, gradients and state are dictionaries of tensors `models x ...`; each model has its own learning
rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim.adam import adam

from nalm.errors import ArgumentError, check_positive
from nalm.recipes.gradients import Gradients
from nalm.recipes.model_axis import per_model
from nalm.recipes.schedules import STEPS, Ramp, StepState

Parameters = dict[str, Tensor]
State = dict[str, Tensor]


class Optimiser:
    """Base of all optimisers."""

    learning_rate: float
    trainer: ClassVar[str] = "engine"
    """The name of the trainer that takes its steps."""
    work: ClassVar[int] = 1
    """The rough cost of a step, in steps of a first-order optimiser."""
    looks: ClassVar[bool] = False
    """Whether `look` must be called before the first step."""

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        raise NotImplementedError

    def look(self, state: State, names: Sequence[str], x: Tensor) -> State:
        """The state after seeing some inputs `models x n x in` of the parameters with these names."""
        return state

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        raise NotImplementedError

    def step_one(
        self, parameters: Parameters, gradients: Gradients, state: State
    ) -> tuple[Parameters, State]:
        """The same for a single model that is neither traced nor compiled, up to rounding."""
        return self.step(parameters, gradients, state)


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
        # Running products of the betas save a power per step; float64 because 1 - beta2 is small.
        # `ones_like` instead of a size: while a program is traced, the number of models is not known.
        ones = torch.ones_like(first.reshape(first.shape[0], -1)[:, 0], dtype=torch.float64)
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

    def step_one(
        self, parameters: Parameters, gradients: Gradients, state: State
    ) -> tuple[Parameters, State]:
        """The same by torch's fused kernel, which passes over the numbers once."""
        power1, power2 = state["power1"] * self.beta1, state["power2"] * self.beta2
        root = (1 - power2).sqrt()
        # The kernel's own corrections vanish at step infinity; rate and epsilon contain ours.
        rate, epsilon = self.learning_rate * root / (1 - power1), self.epsilon * root
        after = {name: p.clone(memory_format=torch.contiguous_format) for name, p in parameters.items()}
        means, squares = ([state[f"{kind}:{name}"].clone() for name in after] for kind in ("mean", "square"))
        given = [gradients[name].contiguous() for name in after]  # the kernel does not look at strides
        steps = [torch.full((), torch.inf, device=p.device) for p in after.values()]
        adam(
            *(list(after.values()), given, means, squares, [], steps),
            fused=True,
            amsgrad=False,
            maximize=False,
            weight_decay=0.0,
            lr=float(rate),
            eps=float(epsilon),
            beta1=float(self.beta1),
            beta2=float(self.beta2),
        )
        moments = {f"mean:{name}": mean for name, mean in zip(after, means)}
        moments |= {f"square:{name}": square for name, square in zip(after, squares)}
        return after, {"power1": power1, "power2": power2, **moments}


@dataclass(frozen=True)
class SGD(Optimiser):
    """Gradient descent; with `momentum` None there is no velocity."""

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
class Falling(Optimiser):
    """Another optimiser whose learning rate falls linearly to zero between two steps.

    Args:
        optimiser: the other optimiser, with the learning rate of the first steps.
        start_at: the step at which the rate begins to fall.
        end_at: the step at which it is zero.
    """

    optimiser: Adam = Adam()
    start_at: float = field(default=0.0, metadata=STEPS)
    end_at: float = field(default=1.0, metadata=STEPS)

    @property
    def learning_rate(self) -> float:  # type: ignore[override]
        """The learning rate of the first steps."""
        return self.optimiser.learning_rate

    def timing(self) -> str:
        """When it acts, in words."""
        return f"lets the learning rate fall from step {self.start_at:,.10g} to {self.end_at:,.10g}"

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        return f"does not reach zero: it {self.timing()}" if steps < self.end_at else ""

    def start(self, parameters: Parameters) -> State:
        """The state before the first step."""
        state = self.optimiser.start(parameters)
        return {**state, "taken": torch.zeros_like(state["power1"])}

    def step(self, parameters: Parameters, gradients: Gradients, state: State) -> tuple[Parameters, State]:
        """The parameters and the state after one step."""
        inner, counted = self._split(state)
        after, inner = self._now(state).step(parameters, gradients, inner)
        return after, {**inner, **counted}

    def step_one(
        self, parameters: Parameters, gradients: Gradients, state: State
    ) -> tuple[Parameters, State]:
        """The same for a single model that is neither traced nor compiled, up to rounding."""
        inner, counted = self._split(state)
        after, inner = self._now(state).step_one(parameters, gradients, inner)
        return after, {**inner, **counted}

    def _now(self, state: State) -> Adam:
        """The other optimiser with the learning rate of this step."""
        taken = state["taken"]
        fallen = Ramp(self.start_at, self.end_at).scale(StepState(taken, taken))
        # One rate per model, as everywhere in a program, though a recipe holds a number.
        rate: Any = self.optimiser.learning_rate * (1 - fallen)
        return replace(self.optimiser, learning_rate=rate)

    @staticmethod
    def _split(state: State) -> tuple[State, State]:
        """The state of the other optimiser, and the count of steps after this one."""
        return {k: value for k, value in state.items() if k != "taken"}, {"taken": state["taken"] + 1}


@dataclass(frozen=True)
class LevenbergMarquardt(Optimiser):
    """Second-order training in float64 from a population of starts (see `nalm.second_order`).

    It replaces the whole step: the loss, penalties, clips and clamps of a recipe are not used, and the
    weights are made discrete at the end. The recipe's `iterations` limit the steps of each stage of a start.

    Args:
        starts: how many starts are drawn from the units' own initialisation.
        grow: whether to begin with starts that are grown on the data.
        rule: the version of the rule that decides what is exact. It is raised when the rule changes, so that
            runs judged by an earlier rule are computed again.
    """

    starts: int = field(default=4, metadata={"shape": True})
    grow: bool = field(default=True, metadata={"shape": True})
    rule: int = field(default=2, metadata={"shape": True})

    trainer: ClassVar[str] = "second-order"
    work: ClassVar[int] = 2000

    @property
    def learning_rate(self) -> float:  # type: ignore[override]
        """Always 1: the whole step is taken, and its length is found again in every step."""
        return 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.grow, bool):
            raise ArgumentError("grow", "True or False", repr(self.grow))
        if not (self.starts == 0 and self.grow):
            check_positive("starts", self.starts)

    def start(self, parameters: Parameters) -> State:
        """An empty state: nothing that a user would see is carried from step to step."""
        return {}
