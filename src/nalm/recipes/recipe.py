"""A recipe: the small objects that together define how a model is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nalm.errors import ArgumentError, check_positive
from nalm.recipes.clamps import Clamp, Project
from nalm.recipes.gradients import ClipNorm, ClipValue, GradientNoise
from nalm.recipes.initialise import Initialise
from nalm.recipes.losses import MSE, Loss
from nalm.recipes.numbers import split
from nalm.recipes.optimisers import Adam, LevenbergMarquardt, Optimiser
from nalm.recipes.penalties import Penalty
from nalm.recipes.reinitialise import Reinitialise


@dataclass(frozen=True)
class Recipe:
    """How to train. The order within a step is the order of the fields from `loss` to `clamps`.

    `initialise` replaces the units' own initialisation. `by` names the trainer, such as "loop" for networks
    that are too large to be trained side by side; by default the optimiser names it.

    The types of the parts, and which are None, form the shape of a recipe: runs whose recipes have the same
    shape train in one program, each with its own numbers.
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
    by: str | None = field(default=None, metadata={"shape": True})

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
        if not isinstance(self.by, str | None):
            raise ArgumentError("by", "the name of a trainer", repr(self.by))
        if not all(math.isfinite(number) for number in split(self)[1]):
            raise ArgumentError("recipe", "made of finite numbers", repr(self))
        if self.optimiser.learning_rate < 0:
            raise ArgumentError("learning_rate", "0 or more", repr(self.optimiser.learning_rate))

    @property
    def trainer(self) -> str:
        """The name of the trainer that runs it, see `nalm.training.trainers`."""
        return self.by or self.optimiser.trainer

    @property
    def work(self) -> int:
        """The rough cost of a run, in steps of a first-order optimiser."""
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
"""The recipe "second-order", the same for every unit."""


def _words(kinds: tuple[type, ...]) -> str:
    return " or ".join("None" if kind is _NONE else kind.__name__ for kind in kinds)
