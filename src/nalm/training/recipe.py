"""A recipe: the small objects that together say how a model is trained."""

from __future__ import annotations

from dataclasses import dataclass, field

from nalm.training.clamps import Bound, Clamp, Project
from nalm.training.gradients import ClipNorm, ClipValue, GradientNoise
from nalm.training.losses import MAPE, MSE, PCC, RMSE, Loss, PCCThenMSE
from nalm.training.optimisers import SGD, Adam, Optimiser, RMSProp
from nalm.training.penalties import L1, L2, Discretise, Penalty, UnitPenalty
from nalm.training.reinitialise import Reinitialise
from nalm.training.schedules import Always, Growth, Progress, Ramp, Schedule, WhenLossBelow

__all__ = [
    "L1", "L2", "MAPE", "MSE", "PCC", "RMSE", "SGD", "Adam", "Always", "Bound", "Clamp", "ClipNorm",
    "ClipValue", "Discretise", "GradientNoise", "Growth", "Loss", "Optimiser", "PCCThenMSE", "Penalty",
    "Progress", "Project", "RMSProp", "Ramp", "Recipe", "Reinitialise", "Schedule", "UnitPenalty",
    "WhenLossBelow",
]  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """How to train. The order inside one step is the order of the fields from `loss` to `clamps`.

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
    reinitialise: Reinitialise | None = field(default=None, metadata={"shape": True})
    iterations: int = field(default=50_000, metadata={"shape": True})
    batch_size: int = field(default=128, metadata={"shape": True})
