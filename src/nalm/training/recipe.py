"""A recipe: the small objects that together say how a model is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nalm.errors import ArgumentError, check_positive
from nalm.training.clamps import Bound, Clamp, Project
from nalm.training.gradients import ClipNorm, ClipValue, GradientNoise
from nalm.training.initialise import Initialise
from nalm.training.losses import MAPE, MSE, PCC, RMSE, Loss, PCCThenMSE
from nalm.training.numbers import split
from nalm.training.optimisers import SGD, Adam, Centred, LevenbergMarquardt, Optimiser, RMSProp
from nalm.training.penalties import L0, L1, L2, Discretise, Penalty, UnitPenalty
from nalm.training.reinitialise import Reinitialise
from nalm.training.schedules import Always, Growth, Progress, Ramp, Schedule, WhenLossBelow

__all__ = [
    "L0", "L1", "L2", "MAPE", "MSE", "PCC", "RMSE", "SECOND_ORDER", "SGD", "Adam", "Always", "Bound",
    "Centred", "Clamp", "ClipNorm", "ClipValue", "Discretise", "GradientNoise", "Growth", "Initialise",
    "LevenbergMarquardt", "Loss", "Optimiser", "PCCThenMSE", "Penalty", "Progress", "Project", "RMSProp",
    "Ramp", "Recipe", "Reinitialise", "Schedule", "UnitPenalty", "WhenLossBelow",
]  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """How to train. The order inside one step is the order of the fields from `loss` to `clamps`.

    `initialise` replaces initial values of the units' own.

    Types and None are the shape of a recipe: runs whose recipes have the same shape train in one program,
    each with its own numbers.
    """

    loss: Loss = MSE()
    penalties: tuple[Penalty, ...] = ()
    clip_norm: ClipNorm | None = None
    clip_value: ClipValue | None = None
    gradient_noise: GradientNoise | None = None
    optimiser: Optimiser = Adam()
    clamps: tuple[Clamp, ...] = (Project(),)
    initialise: tuple[Initialise, ...] = field(default=(), metadata={"shape": True})
    reinitialise: Reinitialise | None = field(default=None, metadata={"shape": True})
    iterations: int = field(default=50_000, metadata={"shape": True})
    batch_size: int = field(default=128, metadata={"shape": True})

    def __post_init__(self) -> None:
        check_positive("iterations", self.iterations)
        check_positive("batch_size", self.batch_size)
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            several = name in ("penalties", "clamps", "initialise")
            parts = value if several and isinstance(value, tuple) else (value,)
            if (several and not isinstance(value, tuple)) or not all(
                isinstance(part, kind) for part in parts
            ):
                expected = f"a tuple of {name}" if several else f"of type {_words(kind)}"
                raise ArgumentError(name, expected, repr(value))
        if not all(math.isfinite(number) for number in split(self)[1]):
            raise ArgumentError("recipe", "made of finite numbers", repr(self))
        if self.optimiser.learning_rate < 0:
            raise ArgumentError("learning_rate", "0 or more", repr(self.optimiser.learning_rate))

    @property
    def is_second_order(self) -> bool:
        """Whether it is solved by Levenberg-Marquardt instead of trained step by step."""
        return isinstance(self.optimiser, LevenbergMarquardt)

    @property
    def work(self) -> int:
        """What a run costs, roughly, in steps of first order."""
        return self.iterations * self.optimiser.work


_NONE = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    "loss": (Loss,),
    "penalties": (Penalty,),
    "clip_norm": (ClipNorm, _NONE),
    "clip_value": (ClipValue, _NONE),
    "gradient_noise": (GradientNoise, _NONE),
    "optimiser": (Optimiser,),
    "clamps": (Clamp,),
    "initialise": (Initialise,),
    "reinitialise": (Reinitialise, _NONE),
}


SECOND_ORDER = Recipe(optimiser=LevenbergMarquardt(), penalties=(), clamps=(), iterations=100)
"""The recipe "second-order", the same for every unit: it needs no numbers of a unit's own."""


def _words(kinds: tuple[type, ...]) -> str:
    return " or ".join("None" if kind is _NONE else kind.__name__ for kind in kinds)
