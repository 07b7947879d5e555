"""Rows of a benchmark: what the seeds of a model on an operation and a range have come to, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.evaluate.intervals import NOTHING, Interval, beta_interval, gamma_interval, success_interval
from nalm.evaluate.outcome import Outcome

READABLE = 0.01
"""Sparsity error above which the weights of a solved run cannot be read."""


def solved_step(steps: np.ndarray, test: np.ndarray, threshold: float) -> int:
    """First logged step whose test error is below the threshold."""
    return int(steps[np.argmax(test < threshold)])


def summarise(
    outcomes: Sequence[Outcome], solved_at: Sequence[int], sparsities: Sequence[float]
) -> dict[str, Any]:
    """The measures of a row. `solved_at` and `sparsities` are those of solved runs alone."""
    counts = Counter(outcomes)
    steps = gamma_interval(solved_at) if solved_at else NOTHING
    sparsity = beta_interval(sparsities) if sparsities else NOTHING
    return {
        "runs": len(outcomes),
        "success": _named("rate", success_interval(counts[Outcome.SOLVED], len(outcomes))),
        "solved_at": {"median": float(np.median(solved_at)) if solved_at else None, **_named("mean", steps)},
        "sparsity": _named("mean", sparsity),
        "outcomes": {str(outcome): counts[outcome] for outcome in _ORDER},
        "not_sparse": sum(value > READABLE for value in sparsities),
    }


_ORDER = (Outcome.SOLVED, Outcome.NOT_EXTRAPOLATING, Outcome.NOT_CONVERGED, Outcome.DIVERGED)


def _named(name: str, interval: Interval) -> dict[str, float | None]:
    return {name: interval.value, "low": interval.low, "high": interval.high}
