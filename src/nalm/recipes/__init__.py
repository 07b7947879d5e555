"""The parts of a recipe: data and pure functions that know nothing of particular units."""

from nalm.recipes.centred import Centred
from nalm.recipes.clamps import Bound, Clamp, Project
from nalm.recipes.gradients import ClipNorm, ClipValue, GradientNoise
from nalm.recipes.initialise import Initialise
from nalm.recipes.losses import MAE, MAPE, MSE, PCC, RMSE, CrossEntropy, Loss, PCCThenMSE
from nalm.recipes.optimisers import SGD, Adam, Falling, LevenbergMarquardt, Optimiser, RMSProp
from nalm.recipes.penalties import L0, L1, L2, Discretise, InputIdentity, Penalty, UnitPenalty
from nalm.recipes.recipe import SECOND_ORDER, Recipe
from nalm.recipes.reinitialise import Reinitialise
from nalm.recipes.schedules import Always, Growth, Ramp, Schedule, StepState, WhenLossBelow

__all__ = [
    "L0",
    "L1",
    "L2",
    "MAE",
    "MAPE",
    "MSE",
    "PCC",
    "RMSE",
    "SECOND_ORDER",
    "SGD",
    "Adam",
    "Always",
    "Bound",
    "Centred",
    "Clamp",
    "ClipNorm",
    "ClipValue",
    "CrossEntropy",
    "Discretise",
    "Falling",
    "GradientNoise",
    "Growth",
    "Initialise",
    "InputIdentity",
    "LevenbergMarquardt",
    "Loss",
    "Optimiser",
    "PCCThenMSE",
    "Penalty",
    "Project",
    "RMSProp",
    "Ramp",
    "Recipe",
    "Reinitialise",
    "Schedule",
    "StepState",
    "UnitPenalty",
    "WhenLossBelow",
]  # fmt: skip
