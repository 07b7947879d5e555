"""Metrics of the papers: each is a number with an interval, from the runs of one cell of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nalm.evaluate.intervals import (
    NOTHING,
    Interval,
    beta_interval,
    gamma_interval,
    median_interval,
    success_interval,
)
from nalm.evaluate.judged import Judged
from nalm.evaluate.outcome import Outcome

Runs = Sequence[Judged]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: its name in `published.csv`.
        label: what is added to the name of a column; empty for the main metric of a table.
        rising: whether more is better; None where neither is.
        of: computes it from runs.
    """

    name: str
    label: str
    rising: bool | None
    of: Callable[[Runs], Interval]


def _success(runs: Runs) -> Interval:
    return success_interval(sum(run.assessment.outcome is Outcome.SOLVED for run in runs), len(runs))


def _interpolation(runs: Runs) -> Interval:
    solved = (run.record.validation[run.record.chosen] < (run.below.validation or 0.0) for run in runs)
    return success_interval(sum(map(bool, solved)), len(runs))


def _solved_at(runs: Runs) -> Interval:
    steps = [run.assessment.solved_at for run in runs if run.assessment.solved_at is not None]
    return gamma_interval(steps) if steps else NOTHING


def _median_solved_at(runs: Runs) -> Interval:
    steps = [run.assessment.solved_at for run in runs if run.assessment.solved_at is not None]
    if len(steps) < 2:  # one success says nothing of the others
        return Interval(steps[0], None, None) if steps else NOTHING
    return median_interval(steps)


def _sparsity(runs: Runs) -> Interval:
    errors = [run.assessment.sparsity for run in runs if run.assessment.sparsity is not None]
    return beta_interval(errors) if errors else NOTHING


def _test_error(runs: Runs) -> Interval:
    return median_interval([float(run.record.test[run.record.chosen]) for run in runs])


SUCCESS = Metric("success", "", True, _success)
SOLVED_AT = Metric("solved at", "solved at", False, _solved_at)
SPARSITY = Metric("sparsity", "sparsity error", False, _sparsity)
MEDIAN_SOLVED_AT = Metric("solved at median", "median solved at", False, _median_solved_at)
INTERPOLATION = Metric("interpolation success", "interpolation", True, _interpolation)
TEST_ERROR = Metric("test error", "test error", False, _test_error)
THREE = (SUCCESS, SOLVED_AT, SPARSITY)
"""The three panels of the papers' figures."""
