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


def classify(result: TrainResult, threshold: float | None = None) -> list[Outcome]:
    """The outcome of each run, by its task's thresholds or by one for both splits."""
    test, validation = result.chosen_error(Split.TEST), result.chosen_error(Split.VALIDATION)
    outcomes = []
    for run, task in enumerate(result.tasks):
        limit = task.threshold(Split.TEST) if threshold is None else threshold
        if limit is None:
            raise ArgumentError("threshold", "a number, because this task defines none", "None")
        inner = task.threshold(Split.VALIDATION) if threshold is None else threshold
        if test[run] < limit:
            outcomes.append(Outcome.SOLVED)
        elif result.diverged_at[run] >= 0:
            outcomes.append(Outcome.DIVERGED)
        elif inner is not None and validation[run] < inner:
            outcomes.append(Outcome.NOT_EXTRAPOLATING)
        else:
            outcomes.append(Outcome.NOT_CONVERGED)
    return outcomes
