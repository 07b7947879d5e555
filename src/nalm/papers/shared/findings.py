"""Numbers that programs measure, as findings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from nalm.evaluate.intervals import Interval, median_interval, success_interval
from nalm.papers.agreement import Finding
from nalm.papers.metrics import Metric, Runs


def _own(runs: Runs) -> Interval:
    raise TypeError("This metric is measured by the entry's own program, not from runs.")


def measure(name: str, label: str = "", *, rising: bool | None = False) -> Metric:
    """A metric that an entry's own program measures."""
    return Metric(name, label, rising, _own)


def exact(value: Tensor | float) -> Finding:
    """A number that is computed, not sampled."""
    return Finding(float(value), None, None, 1)


def found(interval: Interval, n: int) -> Finding:
    """A number with its interval."""
    return Finding(interval.value, interval.low, interval.high, n)


def share(solved: Sequence[bool]) -> Finding:
    """The share of solved runs with Wilson's interval."""
    return _finding(success_interval(sum(solved), len(solved)), len(solved))


def median(values: Sequence[float]) -> Finding:
    """The median with an interval that is valid for any distribution."""
    return _finding(median_interval(values), len(values))


def median_deviation(values: Sequence[float]) -> Finding:
    """The median plus and minus the median absolute deviation, as Heim et al. 2020 report it."""
    x = np.nan_to_num(np.asarray(values, dtype=float), nan=np.inf, posinf=np.inf)
    middle = float(np.median(x))
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and is reported as None
        spread = float(np.median(np.abs(x - middle)))
    return _finding(Interval(middle, middle - spread, middle + spread), len(x))


def _finding(found: Interval, n: int) -> Finding:
    return Finding(_finite(found.value), _finite(found.low), _finite(found.high), n)


def _finite(value: float | None) -> float | None:
    """The number; None if it is infinite or NaN."""
    return value if value is not None and math.isfinite(value) else None
