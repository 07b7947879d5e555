"""95 % confidence intervals of the field's three measures (Madsen & Johansen 2020, section 4.1; thesis, 3.2).

Success is a share: Wilson's interval. The step at which a run is solved is taken as gamma distributed, the
sparsity error as beta distributed on [0, 1/2]; the interval of their mean is where the profile likelihood
stays within the quantile of chi squared. Values that all agree have no likelihood to speak of: Student's t
instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
_SPREAD = 1e-9
"""Relative spread below which values count as equal."""
_INSIDE = 1e-16
"""How far sparsity errors are kept from the ends of [0, 1/2]."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its interval; None where there is nothing to measure."""

    value: float | None
    low: float | None
    high: float | None


NOTHING = Interval(None, None, None)


def success_interval(successes: int, runs: int) -> Interval:
    """Share of successes with Wilson's interval."""
    from scipy.stats import binomtest

    if not runs:
        return NOTHING
    found = binomtest(successes, runs).proportion_ci(LEVEL, method="wilson")
    return Interval(successes / runs, float(found.low), float(found.high))


def gamma_interval(values: Sequence[float]) -> Interval:
    """Mean of positive values with the interval of a gamma distribution's mean."""
    x = np.asarray(values, dtype=float)
    if len(x) < 2 or _equal(x) or not (x > 0).all():
        return t_interval(x)
    mean, mean_log = x.mean(), np.log(x).mean()

    def likelihood(mu: float) -> float:
        """The profile likelihood of a mean, per value: that of the shape that suits it best."""
        excess = mean / mu + math.log(mu) - mean_log - 1
        shape = _gamma_shape(excess)
        return shape * (math.log(shape) - 1 - excess) - math.lgamma(shape)

    return _profile(likelihood, len(x), float(mean), 0.0, math.inf)


def beta_interval(values: Sequence[float]) -> Interval:
    """Mean of values in [0, 1/2] with the interval of the mean of a beta distribution on that range."""
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    x = np.clip(np.asarray(values, dtype=float), _INSIDE, 0.5 - _INSIDE)
    if len(x) < 2 or _equal(x):
        return t_interval(x)
    log, log_rest = np.log(2 * x).mean(), np.log1p(-2 * x).mean()

    def likelihood(mu: float) -> float:
        def minus(log_size: float) -> float:
            a, b = 2 * mu * math.exp(log_size), (1 - 2 * mu) * math.exp(log_size)
            return float(betaln(a, b)) - (a - 1) * log - (b - 1) * log_rest

        return -float(minimize_scalar(minus, bounds=(-20, 60), method="bounded", options={"xatol": 1e-9}).fun)

    best = minimize_scalar(
        lambda t: -likelihood(0.5 / (1 + math.exp(-t))),
        bounds=(-36, 36),
        method="bounded",
        options={"xatol": 1e-9},
    )
    fitted = _profile(likelihood, len(x), 0.5 / (1 + math.exp(-float(best.x))), 0.0, 0.5)
    return Interval(float(x.mean()), fitted.low, fitted.high)


def t_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """Mean with Student's t interval; without ends for a single value."""
    from scipy.stats import t

    x = np.asarray(values, dtype=float)
    if not len(x):
        return NOTHING
    mean = float(x.mean())
    if len(x) == 1:
        return Interval(mean, None, None)
    half = float(t.ppf((1 + LEVEL) / 2, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)))
    return Interval(mean, mean - half, mean + half)


def _equal(x: np.ndarray) -> bool:
    return bool(np.ptp(x) <= _SPREAD * np.abs(x).max())


def _gamma_shape(excess: float) -> float:
    """The shape k with ln k - digamma(k) = excess."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    return math.exp(brentq(lambda log: log - float(digamma(math.exp(log))) - excess, -40, 40, xtol=1e-13))


def _profile(
    likelihood: Callable[[float], float], count: int, best: float, lowest: float, highest: float
) -> Interval:
    """Where twice the loss of likelihood against the best stays below the quantile of chi squared."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    allowed = float(chi2.ppf(LEVEL, 1)) / (2 * count)
    top = likelihood(best)

    def lost(mu: float) -> float:
        return top - likelihood(mu) - allowed

    def end(towards: float) -> float:
        """Go from the best towards an end of the range until too much is lost, then close in."""
        near = best
        for _ in range(200):
            far = (near + towards) / 2 if math.isfinite(towards) else 2 * near
            if lost(far) > 0:
                return float(brentq(lost, min(near, far), max(near, far), xtol=1e-12 * best))
            near = far
        return towards

    return Interval(best, end(lowest), end(highest))
