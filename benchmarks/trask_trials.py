"""The trials of Trask et al. 2018, which states neither inputs nor steps, optimiser and start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nalm.papers.shared.findings import median
from nalm.papers.trask2018.programs import identity, recurrent, recurrent_runs
from nalm.recipes import Adam, Initialise, RMSProp
from trask_errors import best, by, same
from trask_identity import Descent, scalars
from trask_recurrent import in_time, radii, sizes, with_xavier
from trask_static import best_linear, of_task, static
from trial import Trial

XAVIER = tuple(Initialise(raw, "xavier", unit) for unit in ("nac", "nalu") for raw in ("w_hat", "m_hat"))
_SOME = ("a + b", "a × b")
_RANGED: dict[str, Sequence[str]] = {"Relu6": (), "NAC": ("a × b", "√a"), "NALU": _SOME}
_ALL_STATIC = (
    *("Relu6", "Softsign", "Tanh", "Sigmoid", "SELU", "ELU", "ReLU", "Crelu", "None"),
    "NAC",
    "NALU",
)
_SLOWER, _LONGER = "learning rate 1e-3 instead of 1e-2", "30,000 steps instead of 10,000"
_TABLE5 = ("None", "Tanhshrink")
TRIALS: dict[str, Trial] = {
    "trask-best": static("the best of 10 seeds in interpolation", dict.fromkeys(_ALL_STATIC, ()), same, best),
    "trask-linear-5": best_linear("sums of 5 inputs instead of 25", subset_ratio=0.05),
    "trask-linear-2": best_linear("sums of 2 inputs instead of 25", subset_ratio=0.02),
    "trask-linear-1-2": best_linear("U[1,2) in training, U[2,6) beyond", range="1:2=>2:6"),
    "trask-linear-large": best_linear("inputs ten times as large", range="0:10=>10:20"),
    "trask-range-1-2": static("U[1,2) in training, U[2,6) beyond", _RANGED, of_task(range="1:2=>2:6")),
    "trask-range-large": static("inputs ten times as large", _RANGED, of_task(range="0:10=>10:20")),
    "trask-subsets": static("sums of 5 inputs instead of 25", _RANGED, of_task(subset_ratio=0.05)),
    "trask-rate": static(
        "learning rate 1e-2 instead of 1e-3",
        {"Sigmoid": ("a²",), "NALU": _SOME},
        by(lambda recipe: replace(recipe, optimiser=Adam(1e-2))),
    ),
    "trask-rmsprop": static(
        "RMSProp with the rate 1e-3 instead of Adam",
        {"NALU": _SOME},
        by(lambda recipe: replace(recipe, optimiser=RMSProp(1e-3))),
    ),
    "trask-xavier": static(
        "raw weights of NAC and NALU start by Xavier's scheme",
        {"NAC": ("a × b", "√a"), "NALU": _SOME},
        by(lambda recipe: replace(recipe, initialise=XAVIER)),
    ),
    "trask-steps": static(
        "200,000 steps instead of 50,000",
        {"Tanh": ("a²",), "Sigmoid": ("a²",), "NALU": ("a × b",)},
        by(lambda recipe: replace(recipe, iterations=200_000)),
    ),
    "trask-time-best": in_time("the best of 10 seeds in interpolation", list(recurrent.KINDS), same, best),
    "trask-time-size": Trial(
        "trask2018:table8", "Random", "the published errors of a random LSTM beside ours", sizes
    ),
    "trask-time-radius": Trial(
        "trask2018:table9",
        "NAC",
        "none: the largest eigenvalue of its recurrent weights, 1 for a sum, beside the error",
        radii,
    ),
    "trask-time-rate": in_time(
        _SLOWER,
        ["NAC", "NALU"],
        by(lambda recipe: replace(recipe, optimiser=recurrent_runs.SideBySide(1e-3))),
    ),
    "trask-time-xavier": in_time(
        "raw weights of NAC and NALU start by Xavier's scheme", ["NAC", "NALU"], with_xavier
    ),
    "trask-time-steps": in_time(_LONGER, ["NAC"], by(lambda recipe: replace(recipe, iterations=30_000))),
    "trask-identity-median": scalars("the median over networks, not the mean", _TABLE5, same, median),
    "trask-identity-descent": scalars(
        "plain gradient descent with the same rate instead of Adam",
        _TABLE5,
        by(lambda recipe: replace(recipe, optimiser=Descent())),
    ),
    "trask-identity-rate": scalars(
        _SLOWER,
        _TABLE5,
        by(lambda recipe: replace(recipe, optimiser=identity.SideBySide(1e-3))),
    ),
    "trask-identity-steps": scalars(_LONGER, _TABLE5, by(lambda recipe: replace(recipe, iterations=30_000))),
}
"""The trials by name."""
