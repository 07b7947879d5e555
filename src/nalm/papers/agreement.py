"""Whether a published number and ours, the two in one cell of a table, agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nalm.evaluate.intervals import Interval


class Agreement(StrEnum):
    """The verdict on a published number and ours."""

    AGREES = "agrees"
    BETTER = "better"
    DIFFERS = "differs"
    UNPUBLISHED = "unpublished"
    NOT_COMPARABLE = "not_comparable"


APART = (Agreement.BETTER, Agreement.DIFFERS)
"""Verdicts on numbers that do not agree."""


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


def compare(theirs: Interval, ours: Finding, *, rising: bool) -> Agreement:
    """Numbers agree if their intervals overlap; a number without an interval is an interval of width 0.

    Args:
        theirs: the published number.
        ours: our number.
        rising: whether more is better.
    """
    if ours.value is None or theirs.value is None:
        # One of them had nothing to measure, such as the step of success where no run succeeded.
        return Agreement.DIFFERS
    low, high = _ends(ours.value, ours.low, ours.high)
    their_low, their_high = _ends(theirs.value, theirs.low, theirs.high)
    if low <= their_high and their_low <= high:
        return Agreement.AGREES
    above = low > their_high
    return Agreement.BETTER if above == rising else Agreement.DIFFERS


def _ends(value: float, low: float | None, high: float | None) -> tuple[float, float]:
    return (value if low is None else low, value if high is None else high)
