r"""Epidemic models: learn the right-hand side of differential equations from one simulated epidemic.

.. math::
    \text{sir: } \dot S = -\beta S I, \quad \dot I = \beta S I - \gamma I, \quad \dot R = \gamma I, \qquad
    \text{fsir: } \dot S = -\beta \sqrt{S I} + \eta R, \quad \dot I = \beta \sqrt{S I} - \alpha I, \quad
    \dot R = \alpha I - \eta R

Heim et al. 2020, section 4.1, after Taghvaei et al. 2020: `fsir` with alpha 0.05, beta 0.06, eta 0.01, from
(100, 0.01, 0), 40 times from 0 to 200 (the settings are those of the authors' public program; primer, section
6.3, and thesis, appendix D.1, name the experiment only). `sir` is ours: shares of a population from (0.99,
0.01, 0), beta 0.5, gamma 0.1, 40 times from 0 to 60.

The unit under test, usually `npu+nau` or `realnpu+nau`, gives the rates of change; the network integrates
them from each observed state to the next (`nalm.models.flow.Flow`), `fsir` by five Euler steps, whose length
of 1.03 is nearly the authors' 1, and `sir` by two Runge-Kutta steps. Tested on another epidemic.

Deviations: the authors integrate the whole epidemic from its first state in every step of training, which
takes 200 evaluations of the network one after the other; from state to state it takes five, and all states
are computed side by side. Ours: noise, normal, in proportion to the standard deviation of each compartment
over time, except in the first state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice
from nalm.models.flow import Flow
from nalm.recipes import LevenbergMarquardt, Recipe, RMSProp
from nalm.streams import Purpose, counters, key, normal
from nalm.tasks._base import Numbers, Split, Task

POINTS = 40
NAMES = ("S", "I", "R")
NOISES = (0, 1, 5)
"""Noise in per cent."""
OFF = 0.01
"""A run succeeds if it is better than the true equations with all factors this much too large."""
Rates = Callable[[np.ndarray, float], np.ndarray]
"""Rates of change of states `... x 3`, with all factors multiplied by a number."""


@dataclass(frozen=True)
class System:
    """The equations of an epidemic, and what is observed of it.

    Attributes:
        rates: the true right-hand side.
        starts: the first states of the epidemics for training and for the test.
        end: the last time.
        method: of the solver that a unit learns through.
        steps: of that solver between two times.
    """

    rates: Rates
    starts: tuple[tuple[float, float, float], tuple[float, float, float]]
    end: float
    method: str
    steps: int


def _sir(x: np.ndarray, factor: float = 1.0) -> np.ndarray:
    caught, cured = factor * 0.5 * x[..., 0] * x[..., 1], factor * 0.1 * x[..., 1]
    return np.stack([-caught, caught - cured, cured], -1)


def _fsir(x: np.ndarray, factor: float = 1.0) -> np.ndarray:
    caught = factor * 0.06 * np.sqrt(np.maximum(x[..., 0], 0) * np.maximum(x[..., 1], 0))
    cured, lost = factor * 0.05 * x[..., 1], factor * 0.01 * x[..., 2]
    return np.stack([lost - caught, caught - cured, cured - lost], -1)


SYSTEMS = {
    "sir": System(_sir, ((0.99, 0.01, 0.0), (0.6, 0.05, 0.35)), 60.0, "rk4", 2),
    "fsir": System(_fsir, ((100.0, 0.01, 0.0), (60.0, 5.0, 35.0)), 200.0, "euler", 5),
}


@functools.cache
def simulate(op: str, split: str = Split.TRAIN, factor: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the states of an epidemic without noise, `points x 3`; cached, not to be changed."""
    from scipy.integrate import solve_ivp  # here, because it would double the time of `import nalm`

    system = SYSTEMS[op]
    times = np.linspace(0, system.end, POINTS)
    start = system.starts[split == Split.TEST]
    found = solve_ivp(
        lambda _, x: system.rates(x, factor), (0, system.end), start, t_eval=times, rtol=1e-10, atol=1e-12
    )
    states = found.y.T
    for array in (times, states):
        array.setflags(write=False)
    return times, states


@dataclass(frozen=True)
class Epidemic(Task):
    """The rates of change of an epidemic.

    Args:
        op: "sir", or "fsir" with fractional powers.
        noise: of the observed states, in per cent.
    """

    op: str = "sir"
    noise: float = 0

    name = "epidemic"
    ops = ("sir", "fsir")
    models: ClassVar[tuple[str, ...]] = ("npu+nau", "realnpu+nau", "realnpu+nau@second-order")
    in_features = 3
    out_features = 3
    dtype = torch.float64
    stack_recipe = "published"
    has_equations = True
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 5, "paper": 10}
    steps: ClassVar[int] = 3000
    log_interval = 500

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        number = isinstance(self.noise, int | float) and not isinstance(self.noise, bool)
        if not number or not 0 <= self.noise < 100:
            raise ArgumentError("noise", "per cent from 0 to less than 100", repr(self.noise))

    @property
    def system(self) -> System:
        """The equations, and what is observed."""
        return SYSTEMS[self.op]

    @property
    def draws(self) -> int:
        """Nothing is drawn: all rows are in every batch."""
        return 1

    @property
    def input_names(self) -> list[str]:
        """The compartments."""
        return list(NAMES)

    @property
    def recipe_op(self) -> None:
        """None: no unit has a recipe for differential equations."""
        return

    def network(self, unit: nn.Module) -> nn.Module:
        """A solver around the unit, from one observed time to the next."""
        return Flow(unit, self.system.end / (POINTS - 1), self.system.steps, self.system.method)

    def observed(self, seed: int, split: str = Split.TRAIN) -> tuple[np.ndarray, np.ndarray]:
        """Times and observed states, `points x 3`; the epidemic of the test is observed without noise."""
        times, states = simulate(self.op, split)
        if split == Split.TEST or not self.noise:
            return times, states
        stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.DATA, 0)
        drawn = normal(stream, counters(*states.shape), torch.float64)[0].numpy()
        drawn[0] = 0.0
        # Amounts: a negative observation is one of zero.
        return times, np.maximum(states + self.noise / 100 * states.std(0) * drawn, 0.0)

    def shape(self) -> Hashable:
        """The solver; the states are numbers."""
        return (type(self), self.op)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The observed states of the run."""
        return {"states": self.observed(seed, split)[1].tolist()}

    def samples(self, split: str) -> int:
        """Every observed state but the last."""
        return POINTS - 1

    def block(self, split: str) -> int:
        """All at once."""
        return POINTS - 1

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Observed states, and the next ones, in order."""
        states = numbers["states"].to(u.dtype)
        index = torch.arange(u.shape[-1], device=u.device) % (POINTS - 1)
        return states[:, index], states[:, index + 1]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """The error of the true equations with all factors 1 % too large, whatever `epsilon` is."""
        times, states = simulate(self.op, split if split == Split.TEST else Split.TRAIN)
        step = (times[1] - times[0]) / 64
        off, exact = states[:-1], states[:-1]
        for _ in range(64):
            off = _midpoint(self.system.rates, off, step, 1 + OFF)
            exact = _midpoint(self.system.rates, exact, step, 1.0)
        return float(np.mean((off - exact) ** 2))

    def identity(self) -> dict[str, Any]:
        """The fields that are not defaults, and the name."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {**own, "name": self.name, "op": self.op}

    def labels(self) -> dict[str, str | int]:
        """The equations, and the noise in per cent."""
        return {"op": self.op, "noise": f"{self.noise:g} %"}

    def about(self) -> dict[str, Any]:
        """Labels and equations: there are no ranges."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run."""
        return cls(identity["op"], identity.get("noise", 0))

    @classmethod
    def variants(cls) -> list[Task]:
        """Both systems, with each noise."""
        return [cls(op, noise) for op in cls.ops for noise in NOISES]

    def adapt(self, recipe: Recipe) -> Recipe:
        """RMSProp as the authors use it on all rows at once; for second order `nalm.find_dynamics`."""
        if isinstance(recipe.optimiser, LevenbergMarquardt):
            return replace(recipe, by="dynamics")
        return Recipe(
            optimiser=RMSProp(5e-3, decay=0.9), clamps=(), batch_size=POINTS - 1, iterations=self.steps
        )


def _midpoint(rates: Rates, x: np.ndarray, step: float, factor: float) -> np.ndarray:
    moved: np.ndarray = x + step * rates(x + 0.5 * step * rates(x, factor), factor)
    return moved
