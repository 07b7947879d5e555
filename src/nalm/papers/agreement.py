"""Whether a published number and ours, the two in one cell of a table, agree.

Success rates are compared by Fisher's exact test on the successes and failures of both sides, so that fewer
seeds are as comparable as many: they only tell less. An agreement is *weak* where the seeds were too few to
tell: the same two rates would differ with 100 runs each, or the test would more likely miss than notice a
true rate of ours that is 0.25 away from theirs. All other numbers are compared by the overlap of their 95 %
intervals.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum

from nalm.evaluate.intervals import LEVEL, Interval

CHANCE = 1 - LEVEL
"""Rates differ if the exact test gives them less than this chance to come from equal rates."""
_MANY = 100
"""Runs on both sides with which a weak agreement would be a difference."""
_FAR = 0.25
"""A difference of rates that 25 seeds on both sides notice more often than not."""


class Agreement(StrEnum):
    """The verdict on a published number and ours."""

    AGREES = "agrees"
    BETTER = "better"
    DIFFERS = "differs"
    UNPUBLISHED = "unpublished"
    NOT_COMPARABLE = "not_comparable"


APART = (Agreement.BETTER, Agreement.DIFFERS)
"""Verdicts on numbers that do not agree."""
COMPARED = (Agreement.AGREES, *APART)
"""Verdicts on numbers that were compared."""


class Reason(StrEnum):
    """Why two numbers cannot be compared."""

    THRESHOLD = "other threshold"
    DATA = "other data"
    PROTOCOL = "reduced protocol"


@dataclass(frozen=True)
class Finding:
    """A number that we measured, its interval, and the number of runs behind it."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def solved(self) -> int:
        """For a success rate, the number of runs that succeeded."""
        return round((self.value or 0.0) * self.n)


@dataclass(frozen=True)
class Verdict:
    """How a published number and ours compare.

    Attributes:
        agreement: the verdict.
        p: the chance of rates at least as far apart if both were equal; None for other numbers.
        weak: whether there were too few runs to tell.
    """

    agreement: Agreement
    p: float | None = None
    weak: bool = False


@functools.cache
def exact_test(solved: int, runs: int, other_solved: int, other_runs: int) -> float:
    """Fisher's exact test, two-sided: the chance of such rates if both were equal."""
    from scipy.stats import fisher_exact  # takes a second to import

    table = [[solved, runs - solved], [other_solved, other_runs - other_solved]]
    return float(fisher_exact(table)[1])


def many_would_differ(rate: float, other: float) -> bool:
    """Whether two rates would differ if each were measured with many runs."""
    return exact_test(round(rate * _MANY), _MANY, round(other * _MANY), _MANY) < CHANCE


@functools.cache
def can_tell(solved: int, runs: int, ours: int) -> bool:
    """Whether so many runs of ours would notice, more likely than not, a true rate far from theirs."""
    from scipy.stats import binom

    rejected = [k for k in range(ours + 1) if exact_test(solved, runs, k, ours) < CHANCE]
    rates = [rate for rate in (solved / runs - _FAR, solved / runs + _FAR) if 0 <= rate <= 1]
    return max(float(binom.pmf(rejected, ours, rate).sum()) for rate in rates) >= 0.5


def compare_rates(theirs: Finding, ours: Finding) -> Verdict:
    """Compare two success rates by the exact test."""
    if ours.value is None or theirs.value is None:
        return Verdict(Agreement.DIFFERS)
    p = exact_test(theirs.solved, theirs.n, ours.solved, ours.n)
    if p >= CHANCE:
        told = can_tell(theirs.solved, theirs.n, ours.n)
        return Verdict(Agreement.AGREES, p, not told or many_would_differ(theirs.value, ours.value))
    return Verdict(Agreement.BETTER if ours.value > theirs.value else Agreement.DIFFERS, p)


def compare(theirs: Interval, ours: Finding, *, rising: bool | None) -> Verdict:
    """Numbers agree if their intervals overlap; a number without an interval is an interval of width 0.

    Args:
        theirs: the published number.
        ours: our number.
        rising: whether more is better; None where neither is, such as for a count of parameters.
    """
    if ours.value is None or theirs.value is None:
        # One of them had nothing to measure, such as the step of success where no run succeeded.
        return Verdict(Agreement.DIFFERS)
    low, high = _ends(ours.value, ours.low, ours.high)
    their_low, their_high = _ends(theirs.value, theirs.low, theirs.high)
    if low <= their_high and their_low <= high:
        return Verdict(Agreement.AGREES)
    above = low > their_high
    return Verdict(Agreement.BETTER if above == rising else Agreement.DIFFERS)


def _ends(value: float, low: float | None, high: float | None) -> tuple[float, float]:
    return (value if low is None else low, value if high is None else high)
