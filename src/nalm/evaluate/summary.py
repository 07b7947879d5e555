"""Rows of a benchmark: the results of a model on a task over its seeds, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.evaluate.intervals import NOTHING, Interval, beta_interval, gamma_interval, success_interval
from nalm.evaluate.outcome import Limits, Outcome, outcome_of

SPARSE = 0.01
"""Sparsity error above which the weights of a solved run cannot be read."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What became of one run: its outcome and, if it is solved, the step and how discrete its weights are."""

    outcome: Outcome
    solved_at: int | None
    sparsity: float | None
    sparsity_with_gates: float | None


def judge(
    steps: np.ndarray,
    validation: np.ndarray,
    test: np.ndarray,
    chosen: int,
    *,
    diverged: bool,
    below: Limits,
    sparsity: float | None = None,
    sparsity_with_gates: float | None = None,
) -> Assessment:
    """The assessment of a run from its curves: errors at the logged steps, and the index of the chosen."""
    outcome = outcome_of(validation.item(chosen), test.item(chosen), diverged, below)
    if outcome is not Outcome.SOLVED:
        return Assessment(outcome, None, None, None)
    first = steps.item((test < below.test).argmax())
    return Assessment(outcome, first, sparsity, sparsity_with_gates)


def summarise(assessments: Sequence[Assessment]) -> dict[str, Any]:
    """The measures of a row; all but success are over solved runs only."""
    counts = Counter(assessment.outcome for assessment in assessments)
    steps = [v.solved_at for v in assessments if v.solved_at is not None]
    sparsity = [v.sparsity for v in assessments if v.sparsity is not None]
    with_gates = [v.sparsity_with_gates for v in assessments if v.sparsity_with_gates is not None]
    papers = beta_interval(sparsity) if sparsity else NOTHING
    gates = papers if with_gates == sparsity else beta_interval(with_gates)
    success = success_interval(counts[Outcome.SOLVED], len(assessments)) if assessments else NOTHING
    return {
        "runs": len(assessments),
        "success": _named("rate", success),
        "solved_at": {
            "median": float(np.median(steps)) if steps else None,
            **_named("mean", gamma_interval(steps) if steps else NOTHING),
        },
        "sparsity": _named("mean", papers),
        "sparsity_with_gates": _named("mean", gates),
        "outcomes": {str(outcome): counts[outcome] if assessments else None for outcome in _ORDER},
        "not_sparse": sum(value > SPARSE for value in sparsity),
    }


def summarise_costs(costs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What second-order runs found and cost, with starts and steps of the population; None for other runs."""
    if not all(costs):
        return None
    found = Counter(cost["found"] for cost in costs)
    taken = {name: [cost[name] for cost in costs] for name in ("starts", "steps", "seconds")}
    return {
        "found": {name: found[name] for name in ("exact", "discrete", "approximate", "failed")},
        "started": dict(Counter(cost["start"] for cost in costs)),
        **{name: {"median": float(np.median(v)), "total": float(sum(v))} for name, v in taken.items()},
    }


_ORDER = (Outcome.SOLVED, Outcome.NOT_EXTRAPOLATING, Outcome.NOT_CONVERGED, Outcome.DIVERGED)


def _named(name: str, interval: Interval) -> dict[str, float | None]:
    return {name: interval.value, "low": interval.low, "high": interval.high}
