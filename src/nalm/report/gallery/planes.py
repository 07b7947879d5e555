"""Which two weights of a unit a loss surface is drawn over, and how they are set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nalm.units import UNITS, Unit

OPERATIONS = ("mul", "div")
"""A unit that can do one of these has a loss surface."""
_SATURATED = 20.0
"""A raw weight at which the hyperbolic tangent is 1 in double precision."""

Entry = tuple[str, int]
"""A parameter, and which of its columns."""


def _as_it_is(unit: Unit, weight: Tensor) -> Tensor:
    return weight


def _through_tanh(unit: Unit, weight: Tensor) -> Tensor:
    """The raw weight of a tanh that gives this weight, its logistic factor being 1."""
    raw = torch.atanh(weight).clamp(-_SATURATED, _SATURATED)
    return raw / getattr(unit, "log_base", 1.0)


@dataclass(frozen=True)
class Plane:
    """Two weights of a unit with two inputs and one output; all its other parameters have ideal values.

    Attributes:
        entries: where the two weights are, by operation.
        effective: the name in `Unit.weights` of what the parameter becomes; None for the parameter itself.
        low: the smallest weight that training allows.
        high: the largest one; both are infinite if there are no bounds.
        raw: from weights to the values of the parameter.
        held: what the other parameters are, in words; empty if there are none.
        beyond: whether the loss is known outside the bounds too.
        training: whether the equation that is used while training is drawn, where it is another one.
        note: a sentence about what else is seen; mostly empty.
    """

    entries: dict[str, tuple[Entry, Entry]]
    effective: str | None = None
    low: float = -1.0
    high: float = 1.0
    raw: Callable[[Unit, Tensor], Tensor] = _as_it_is
    held: str = ""
    beyond: bool = True
    training: bool = False
    note: str = ""

    def place_(self, unit: Unit, op: str, weights: Tensor) -> None:
        """Set the weights of models side by side, `n x 2`, in place."""
        unit.ideal_(op, 0, 1)
        with torch.no_grad():
            for (name, column), values in zip(self.entries[op], self.raw(unit, weights).T):
                unit.get_parameter(name)[:, 0, column] = values

    def read(self, unit: Unit, op: str) -> Tensor:
        """The two weights of models side by side, `*batch_shape x 2`."""
        held: Any = {} if self.effective is None else unit.weights()
        read = [
            (unit.get_parameter(name) if self.effective is None else held[self.effective])[..., 0, column]
            for name, column in self.entries[op]
        ]
        return torch.stack(read, -1).detach()

    @property
    def shown(self) -> tuple[float, float]:
        """The ends of both axes: the bounds and a margin, or a wide range if there are none."""
        if not self.beyond:
            return self.low, self.high
        if self.low == 0:
            return -0.75, 1.35
        return (-1.35, 1.35) if math.isfinite(self.low) else (-2.5, 2.5)


def _both(parameter: str) -> dict[str, tuple[Entry, Entry]]:
    pair = ((parameter, 0), (parameter, 1))
    return dict.fromkeys(OPERATIONS, pair)


_INFINITE = float("inf")
_CLOSED = "the gate is closed to sums"
_TANH: dict[str, Any] = {"raw": _through_tanh, "beyond": False}

PLANES: dict[str, Plane] = {
    "nac-mul": Plane(_both("w_hat"), "W", **_TANH),
    "nalu": Plane(_both("w_hat"), "W", **_TANH, held=_CLOSED),
    "inac-mul": Plane(_both("w_hat"), "W", **_TANH),
    "inalu": Plane(_both("w_hat_mul"), "W_mul", **_TANH, held=_CLOSED),
    "gnalu": Plane(_both("w_hat"), "W", **_TANH, held=_CLOSED),
    "nmu": Plane(_both("weight"), low=0.0),
    "gated-nau-nmu": Plane(_both("mul_weight"), low=0.0, held=_CLOSED),
    "snmu": Plane(_both("weight"), low=0.0),
    "stgnmu": Plane(_both("mean"), "W", low=0.0, beyond=False),
    "realnpu": Plane(_both("weight"), low=-_INFINITE, high=_INFINITE, held="both gates are open"),
    "npu": Plane(_both("weight"), low=-_INFINITE, high=_INFINITE,
                 held="both gates are open and the imaginary weights are 0"),
    # Its |W| is replaced while training, and that is what the descent sees.
    "nru": Plane(_both("weight"), training=True,
                 note="At a weight of 0 an input has no effect: the lines there are narrower than drawn."),
    # The weights of the reciprocals come after those of the inputs.
    "nmru": Plane({"mul": (("weight", 0), ("weight", 1)), "div": (("weight", 0), ("weight", 3))}, low=0.0,
                  held="the two weights that are not needed are 0"),
    "quadratic": Plane({"mul": (("u", 0), ("v", 1))}, low=-_INFINITE, high=_INFINITE,
                       held="all other weights and biases are 0"),
}  # fmt: skip
"""The plane of every unit that can multiply or divide, by the unit's name."""


def drawable() -> list[str]:
    """The names of all units that can multiply or divide, in the order of the literature."""
    return [name for name, kind in UNITS.items() if set(kind.ops) & set(OPERATIONS)]
