"""95 % confidence intervals of the field's three measures (Madsen & Johansen 2020, section 4.1; thesis, 3.2).

Success is a share and has Wilson's interval. The step at which a run is solved is taken as gamma distributed,
the sparsity error as beta distributed on [0, 1/2]; the interval of their mean is where the profile likelihood
stays within the quantile of chi squared. For values that are all equal this likelihood is useless, and
Student's t interval is used instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
_SPREAD = 1e-4
"""Relative deviation below which values count as equal: their likelihood would be lost in rounding."""
_SMALL = 1e-5
"""Sparsity errors below this are far enough from 1/2 to be treated as gamma distributed."""
_INSIDE = 1e-16
"""How far sparsity errors are kept from the ends of [0, 1/2]."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its interval; None if there is nothing to measure."""

    value: float | None
    low: float | None
    high: float | None


NOTHING = Interval(None, None, None)


def success_interval(successes: int, runs: int) -> Interval:
    """Share of successes with Wilson's interval."""
    # Written out: scipy has it only in scipy.stats, which takes longer to import than all the rest.
    from scipy.special import ndtri

    if not runs:
        return NOTHING
    share, z = successes / runs, float(ndtri((1 + LEVEL) / 2))
    middle = share + z**2 / (2 * runs)
    half = z * math.sqrt(share * (1 - share) / runs + z**2 / (4 * runs**2))
    scale = 1 + z**2 / runs
    # With no or only successes one end is exactly 0 or 1, which rounding must not change.
    low = (middle - half) / scale if successes else 0.0
    high = (middle + half) / scale if successes < runs else 1.0
    return Interval(share, low, high)


def gamma_interval(values: Sequence[float]) -> Interval:
    """Mean of positive values with the interval of a gamma distribution's mean."""
    x = np.asarray(values, dtype=float)
    if len(x) < 2 or _equal(x) or not (x > 0).all():
        return _clipped(t_interval(x), 0.0, math.inf)
    mean, mean_log = x.mean(), np.log(x).mean()

    def likelihood(mu: float) -> float:
        """The profile likelihood of a mean, per value: the likelihood with the best shape for this mean."""
        excess = mean / mu + math.log(mu) - mean_log - 1
        shape = _gamma_shape(excess)
        return shape * (math.log(shape) - 1 - excess) - math.lgamma(shape)

    return _profile(likelihood, len(x), float(mean), 0.0, math.inf)


def beta_interval(values: Sequence[float]) -> Interval:
    """Mean and its interval of the beta distribution on [0, 1/2] that fits the values best.

    Far below 1/2 that is a gamma distribution, which is used there because it does not suffer from rounding.
    """
    from scipy.special import betaln, digamma

    x = np.clip(np.asarray(values, dtype=float), _INSIDE, 0.5 - _INSIDE)
    if len(x) < 2 or _equal(x):
        return _clipped(t_interval(x), 0.0, 0.5)
    if x.max() < _SMALL:
        return _clipped(gamma_interval(x.tolist()), 0.0, 0.5)
    log, log_rest = float(np.log(2 * x).mean()), float(np.log1p(-2 * x).mean())

    def parameters(mu: float) -> tuple[float, float]:
        """The parameters of the beta distribution with this mean that fits the values best."""
        share = 2 * mu
        size = _beta_size(share, share * log + (1 - share) * log_rest)
        return share * size, (1 - share) * size

    def likelihood(mu: float) -> float:
        a, b = parameters(mu)
        return (a - 1) * log + (b - 1) * log_rest - float(betaln(a, b))

    def slope(logit: float) -> float:
        """Has the sign of the derivative of the profile likelihood."""
        a, b = parameters(_half_of(logit))
        return (log - float(digamma(a))) - (log_rest - float(digamma(b)))

    return _profile(likelihood, len(x), _half_of(_root(slope, -36, 36)), 0.0, 0.5)


def t_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """Mean with Student's t interval; a single value has no ends."""
    from scipy.special import stdtrit

    x = np.asarray(values, dtype=float)
    if not len(x):
        return NOTHING
    mean = float(x.mean())
    if len(x) == 1:
        return Interval(mean, None, None)
    half = float(stdtrit(len(x) - 1, (1 + LEVEL) / 2) * x.std(ddof=1) / math.sqrt(len(x)))
    return Interval(mean, mean - half, mean + half)


def median_interval(values: Sequence[float]) -> Interval:
    """Median, with the interval between two of the values that contains it with at least 95 % probability.

    Nothing is assumed about the distribution. Fewer than six values cannot reach 95 %: the interval then
    spans all of them.
    """
    from scipy.special import bdtr

    x = np.sort(np.asarray(values, dtype=float))
    if not len(x):
        return NOTHING
    # The median is below the k-th smallest value if fewer than k of them are below the median.
    outside = [k for k in range(len(x) // 2) if bdtr(k, len(x), 0.5) <= (1 - LEVEL) / 2]
    skip = outside[-1] + 1 if outside else 0
    return Interval(float(np.median(x)), float(x[skip]), float(x[len(x) - 1 - skip]))


def _equal(x: np.ndarray) -> bool:
    return bool(x.std() <= _SPREAD * np.abs(x).mean())


def _clipped(found: Interval, lowest: float, highest: float) -> Interval:
    if found.low is None or found.high is None:
        return found
    return Interval(found.value, max(found.low, lowest), min(found.high, highest))


def _gamma_shape(excess: float) -> float:
    """The shape k with ln k - digamma(k) = excess."""
    from scipy.special import digamma

    # A well-known approximation, accurate to 1.5 %, gives the bracket.
    near = math.log((3 - excess + math.sqrt((excess - 3) ** 2 + 24 * excess)) / (12 * excess))
    return math.exp(_root(lambda log: log - float(digamma(math.exp(log))) - excess, near - 0.05, near + 0.05))


def _beta_size(share: float, target: float) -> float:
    """The size a + b of the beta distribution with mean `share` that fits E[share ln x + …] best."""
    from scipy.special import digamma

    def slope(log: float) -> float:
        """Grows with the size, because the likelihood is concave in a and b."""
        size = math.exp(log)
        a, b = share * size, (1 - share) * size
        return share * float(digamma(a)) + (1 - share) * float(digamma(b)) - float(digamma(size)) - target

    return math.exp(_root(slope, -40, 60))


def _half_of(logit: float) -> float:
    """Map any number to (0, 1/2)."""
    return 0.5 / (1 + math.exp(-logit))


def _root(function: Callable[[float], float], a: float, b: float) -> float:
    """The zero of a function with opposite signs at a and b.

    It is found by false position (Illinois variant), and by bisection where that is slow. scipy.optimize can
    do this too, but takes longer to import than a stored benchmark takes to answer.
    """
    at_a, at_b = function(a), function(b)
    slow = 0
    for _ in range(200):
        width = abs(b - a)
        if at_a == at_b or width <= 1e-12 * max(abs(b), 1e-300):
            break
        c = (a + b) / 2 if slow > 1 else b - at_b * (b - a) / (at_b - at_a)
        at_c = function(c)
        if at_c == 0:
            return c
        if (at_c > 0) != (at_b > 0):
            a, at_a = b, at_b
        elif slow <= 1:
            at_a /= 2  # an end that did not move gets less weight, so that it moves next time
        b, at_b = c, at_c
        slow = slow + 1 if abs(b - a) > width / 2 and slow <= 1 else 0
    return b


def _profile(
    likelihood: Callable[[float], float], count: int, best: float, lowest: float, highest: float
) -> Interval:
    """The interval in which twice the drop of the log likelihood stays below the chi-squared quantile."""
    from scipy.special import chdtri

    allowed = float(chdtri(1, 1 - LEVEL)) / (2 * count)
    top = likelihood(best)

    def lost(mu: float) -> float:
        return top - likelihood(mu) - allowed

    def end(towards: float) -> float:
        """Go from the best towards an end of the range until too much is lost, then find the root."""
        near = best
        for _ in range(200):
            far = (near + towards) / 2 if math.isfinite(towards) else 2 * near
            if lost(far) > 0:
                return _root(lost, near, far)
            near = far
        return towards

    return Interval(best, end(lowest), end(highest))
