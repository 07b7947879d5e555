"""Outcomes of runs as data, each with a sentence of advice."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import torch

from nalm.errors import ArgumentError
from nalm.tasks._base import Split, Task
from nalm.trained import Trained


class Outcome(StrEnum):
    """What became of a run. The outcomes exclude each other; the first that applies is taken."""

    SOLVED = "solved"
    DIVERGED = "diverged"
    NOT_EXTRAPOLATING = "not_extrapolating"
    NOT_CONVERGED = "not_converged"

    @property
    def advice(self) -> str:
        """What the outcome means, and what to try."""
        return _ADVICE[self]


_ADVICE = {
    Outcome.SOLVED: "The error outside the training range is that of an exact solution.",
    Outcome.DIVERGED: "A number became infinite; try a smaller learning rate or a gradient clip.",
    Outcome.NOT_EXTRAPOLATING: (
        "The training range is fitted but not the test range. If the weights are not discrete, a stronger "
        "penalty may help; if they are, another seed or a wider training range."
    ),
    Outcome.NOT_CONVERGED: (
        "The training range is not fitted. If the error was still falling at the end, more steps may help; "
        "if not, another seed, or a unit that can express the operation."
    ),
}


class Limits(NamedTuple):
    """Errors below which a run counts as solved, and as fitted on the training range, if that is known."""

    test: float
    validation: float | None


def limits(
    task: Task, ideal_test: float | None = None, ideal_validation: float | None = None
) -> Limits | None:
    """The limits of a task; if it has none, those of ideal weights on the data of the run; None if unknown.

    The latter are used close to zero (thesis, section 5.8.2). They are the error e of the ideal weights plus
    float32's epsilon, plus epsilon * e, a difference that float32 cannot represent.
    """
    threshold = task.threshold(Split.TEST)
    if threshold is not None:
        return Limits(threshold, task.threshold(Split.VALIDATION))
    if ideal_test is None or ideal_validation is None:
        return None
    precision = torch.finfo(torch.float32).eps
    return Limits(*(ideal * (1 + precision) + precision for ideal in (ideal_test, ideal_validation)))


def outcome_of(validation: float, test: float, diverged: bool, below: Limits) -> Outcome:
    """What became of a run whose errors at the chosen step are these.

    Args:
        validation: error on the training range.
        test: error on the test range.
        diverged: whether a number became infinite.
        below: the limits of the run.
    """
    if test < below.test:
        return Outcome.SOLVED
    if diverged:
        return Outcome.DIVERGED
    if below.validation is not None and validation < below.validation:
        return Outcome.NOT_EXTRAPOLATING
    return Outcome.NOT_CONVERGED


def classify(result: Trained, threshold: float | None = None) -> list[Outcome]:
    """The outcome of each run, by its task's thresholds or by one threshold for both splits."""
    test, validation = result.chosen_error(Split.TEST), result.chosen_error(Split.VALIDATION)
    outcomes = []
    for run, task in enumerate(result.tasks):
        below = limits(task) if threshold is None else Limits(threshold, threshold)
        if below is None:
            raise ArgumentError("threshold", "a number, because this task defines none", "None")
        diverged = bool(result.diverged_at[run] >= 0)
        outcomes.append(outcome_of(float(validation[run]), float(test[run]), diverged, below))
    return outcomes
