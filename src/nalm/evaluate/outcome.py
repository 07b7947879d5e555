"""Outcomes of runs as data, each with a sentence of advice."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from nalm.errors import ArgumentError
from nalm.tasks._base import Split

if TYPE_CHECKING:
    from nalm.training.result import TrainResult


class Outcome(StrEnum):
    """What became of a run. The outcomes exclude each other; the first that applies is taken."""

    SOLVED = "solved"
    DIVERGED = "diverged"
    NOT_EXTRAPOLATING = "not_extrapolating"
    NOT_CONVERGED = "not_converged"

    @property
    def advice(self) -> str:
        """What it means and what to try."""
        return _ADVICE[self]


_ADVICE = {
    Outcome.SOLVED: "The error outside the training range is that of an exact solution.",
    Outcome.DIVERGED: "A number became infinite; try a smaller learning rate or a gradient clip.",
    Outcome.NOT_EXTRAPOLATING: (
        "The training range is fitted but not the test range; try another seed, a stronger penalty, "
        "or a wider training range."
    ),
    Outcome.NOT_CONVERGED: (
        "The training range is not fitted; try more steps, another seed, or a unit that can express it."
    ),
}


def outcome_of(
    validation: float, test: float, diverged: bool, threshold: float, inner: float | None
) -> Outcome:
    """What became of a run whose errors at the chosen step are these.

    Args:
        validation: error on the training range.
        test: error on the test range.
        diverged: whether a number became infinite.
        threshold: error below which the test range counts as solved.
        inner: the same for the training range, if there is one.
    """
    if test < threshold:
        return Outcome.SOLVED
    if diverged:
        return Outcome.DIVERGED
    if inner is not None and validation < inner:
        return Outcome.NOT_EXTRAPOLATING
    return Outcome.NOT_CONVERGED


def classify(result: TrainResult, threshold: float | None = None) -> list[Outcome]:
    """The outcome of each run, by its task's thresholds or by one for both splits."""
    test, validation = result.chosen_error(Split.TEST), result.chosen_error(Split.VALIDATION)
    outcomes = []
    for run, task in enumerate(result.tasks):
        limit = task.threshold(Split.TEST) if threshold is None else threshold
        if limit is None:
            raise ArgumentError("threshold", "a number, because this task defines none", "None")
        inner = task.threshold(Split.VALIDATION) if threshold is None else threshold
        diverged = bool(result.diverged_at[run] >= 0)
        outcomes.append(outcome_of(float(validation[run]), float(test[run]), diverged, limit, inner))
    return outcomes
