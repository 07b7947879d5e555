"""Trask et al. 2018, section 1.1 and appendix A: networks learn the identity only where they are trained."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from nalm.evaluate.intervals import t_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured, Records, TrainedStudy
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import measure
from nalm.papers.shared.networks import stacked
from nalm.papers.trask2018.programs import identity

ACTIVATIONS = {
    "Hardtanh": "hardtanh",
    "ReLU6": "relu6",
    "Softsign": "softsign",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Threshold": "threshold",
    "SELU": "selu",
    "ELU": "elu",
    "Softshrink": "softshrink",
    "ReLU": "relu",
    "LeakyReLU": "leakyrelu",
    "Tanhshrink": "tanhshrink",
    "Softplus": "softplus",
    "PReLU": "prelu",
    "None": "none",
}
"""The rows of table 5, in its order."""
SHARP = ("Hardtanh", "ReLU6", "Softsign", "Tanh", "Sigmoid")
MILD = ("LeakyReLU", "Tanhshrink", "Softplus", "PReLU")
NONLINEAR = [row for row in ACTIVATIONS if row != "None"]
FAR, NEAR = 1000, identity.NEAR
ALL, INSIDE, OUTSIDE = "-1000 to 1000", "-5 to 5", "-20 to 20, outside of training"
NOTE = (
    "Left open by the paper, and chosen: Adam, Xavier uniform weights without shifts, batches of 64 numbers "
    "from U[-5,5). Threshold has two numbers that the paper does not state: with 0 and 0, as here, it is the "
    "ReLU. The interval is Student's over the models."
)


MAE = measure("MAE")


def _budget(scale: Scale) -> Budget:
    return Budget(scale, identity.MODELS, quick_seeds=10, quick_steps=0.1)


def _reduced(budget: Budget) -> list[str]:
    return budget.fewer_seeds("models") + budget.fewer_steps(identity.STEPS)


def _finding(errors: Tensor) -> Finding:
    """The mean of errors `models x integers`, with an interval over models."""
    each = errors.mean(-1).tolist()
    found = t_interval(each)
    return Finding(found.value, found.low, found.high, len(each))


def _cases(scale: Scale) -> dict[str, Case]:
    """Networks of all activations, by row."""
    steps = _budget(scale).steps(identity.STEPS)
    return {row: identity.case(ACTIVATIONS[row], steps) for row in chosen_rows(scale, ACTIVATIONS)}


def _plan(entry: str, scale: Scale) -> list[Experiment]:
    """Networks of all activations, which both entries share."""
    return [Experiment(entry, tuple(_cases(scale).values()), _budget(scale).seeds)]


def _errors(scale: Scale, records: Records, farthest: int) -> Iterator[tuple[str, Tensor]]:
    """The errors of each row on integers, `models x integers`."""
    for row, case in _cases(scale).items():
        parameters = stacked(record.final_parameters for record in records[case])
        yield row, identity.errors(ACTIVATIONS[row], parameters, farthest)


def _far(scale: Scale, records: Records) -> Measured:
    """Table 5: the error on all integers from -1000 to 1000."""
    found: dict[Key, Finding] = {}
    for row, errors in _errors(scale, records, FAR):
        found[row, ALL, MAE.name] = _finding(errors)
    return Measured(Findings(found), _reduced(_budget(scale)))


def _near(scale: Scale, records: Records) -> Measured:
    """Figure 1: the error from -20 to 20, inside and outside the training range."""
    found: dict[Key, Finding] = {}
    curves: dict[str, np.ndarray] = {}
    for row, errors in _errors(scale, records, NEAR):
        inside = abs(np.arange(-NEAR, NEAR + 1)) <= identity.BOUND
        found[row, INSIDE, MAE.name] = _finding(errors[:, inside])
        found[row, OUTSIDE, MAE.name] = _finding(errors[:, ~inside])
        curves[row] = errors.mean(0).numpy()
    return Measured(Findings(found), _reduced(_budget(scale)), curves)


def _draw(measured: Measured, figure: Any) -> None:
    """The mean error at each number, one line per activation, the largest errors first."""
    from matplotlib import colormaps

    figure.set_size_inches(7.2, 4.4)
    axis = figure.subplots()
    axis.axvspan(-identity.BOUND, identity.BOUND, color="0.92", label="training")
    lines = sorted(measured.data.items(), key=lambda item: -float(item[1].mean()))
    for k, (row, curve) in enumerate(lines):
        colour = colormaps["viridis"](k / max(1, len(lines) - 1))
        axis.plot(range(-NEAR, NEAR + 1), curve, color=colour, label=row, linewidth=1.4)
    axis.set(xlabel="number", ylabel="mean absolute error", xlim=(-NEAR, NEAR), ylim=(0, None))
    axis.grid(alpha=0.3)
    figure.suptitle("Networks learn the identity for the numbers they are trained on")
    figure.legend(loc="outside right center", frameon=False, fontsize="small")


def _value(f: Findings, row: str, column: str) -> float:
    return f[row, column, MAE.name].value or 0.0


def _at_least(row: str, column: str, error: float) -> Check:
    return lambda f: _value(f, row, column) >= error


def _ramps_up(row: str) -> Check:
    """The error outside the training range is surely above that inside."""

    def check(f: Findings) -> bool:
        outside, inside = f[row, OUTSIDE, MAE.name], f[row, INSIDE, MAE.name]
        least = outside.value if outside.low is None else outside.low
        return (least or 0.0) > (inside.value or 0.0)

    return check


def _sharp_above_mild(column: str) -> Check:
    return lambda f: (
        min(_value(f, row, column) for row in SHARP) > max(_value(f, row, column) for row in MILD)
    )


def _prelu_is_best(column: str) -> Check:
    return lambda f: _value(f, "PReLU", column) <= min(_value(f, row, column) for row in NONLINEAR)


ENTRIES = (
    TrainedStudy(
        "trask2018:fig1",
        "Identity: error from -20 to 20 of networks trained from -5 to 5",
        "section 1.1",
        _near,
        partial(_plan, "trask2018:fig1"),
        metrics=(MAE,),
        draw=_draw,
        note=NOTE,
        claims=(
            *(Claim(row, "fails outside of the range seen in training", _ramps_up(row)) for row in NONLINEAR),
            *(
                Claim(row, "is sharply non-linear and fails consistently", _at_least(row, OUTSIDE, 1.0))
                for row in ("Sigmoid", "Tanh")
            ),
            Claim(
                "all", "the sharper the non-linearity, the severer the failure", _sharp_above_mild(OUTSIDE)
            ),
            Claim("PReLU", "learns to be highly linear, with the least error", _prelu_is_best(OUTSIDE)),
        ),
    ),
    TrainedStudy(
        "trask2018:table5",
        "Identity: error on the integers from -1000 to 1000",
        "appendix A",
        _far,
        partial(_plan, "trask2018:table5"),
        metrics=(MAE,),
        note=NOTE + " The paper's means have no spread: they are compared as if it were ours.",
        lends_spread=True,
        claims=(
            Claim("all", "sharp non-linearities have greater errors than mild ones", _sharp_above_mild(ALL)),
            Claim("PReLU", "has the least error of all activations", _prelu_is_best(ALL)),
        ),
    ),
)
