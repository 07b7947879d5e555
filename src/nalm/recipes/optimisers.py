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
