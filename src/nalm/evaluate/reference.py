"""A threshold from runs of a model whose arithmetic is solved, where no ideal weights can be written down.

A network that reads images makes errors of its own. What is then asked of a unit is that its network is no
worse than one that computes the operation exactly and has only learnt to read (Madsen & Johansen 2020,
section 4.2 and appendix D.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

REFERENCE_LEVEL = 0.99
"""The bound is the end of a one-sided interval of 1 %."""


def upper_bound(errors: Sequence[float] | np.ndarray) -> float | None:
    """The upper end of the one-sided t interval of the mean: mean + t(0.99, n - 1) * standard error.

    Args:
        errors: one error of each reference run.

    Returns:
        The bound; None for fewer than two runs, or if one of their errors is not finite.
    """
    from scipy.special import stdtrit

    x = np.asarray(errors, dtype=float)
    if len(x) < 2 or not np.isfinite(x).all():
        return None
    error = float(x.std(ddof=1)) / math.sqrt(len(x))
    return float(x.mean()) + float(stdtrit(len(x) - 1, REFERENCE_LEVEL)) * error
