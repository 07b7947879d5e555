"""Claims about a number of columns, such as "better on four ranges".

The count must be the same. It depends on the seeds: to see how far, the same number of seeds is drawn many
times by our own rates, and the middle 95 % of the counts drawn are what other seeds would give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Findings, rates_of

_AGAIN = 4000
"""How many times the seeds are drawn again."""


def full_on(row: str, count: int) -> Check:
    """All seeds succeed in this number of columns."""
    return lambda f: _count(
        count,
        [rate.solved == rate.n for rate in rates_of(f, row)],
        (_draws(rate) == rate.n for rate in rates_of(f, row)),
    )


def some_on(row: str, count: int) -> Check:
    """Some seed succeeds in this number of columns."""
    return lambda f: _count(
        count,
        [rate.solved > 0 for rate in rates_of(f, row)],
        (_draws(rate) > 0 for rate in rates_of(f, row)),
    )


def better_on(row: str, other: str, count: int) -> Check:
    """One row succeeds more often than another in this number of columns."""

    def check(f: Findings) -> Answer:
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in f.columns(row)]
        held = [(a.value or 0) > (b.value or 0) for a, b in pairs]
        return _count(count, held, (_draws(a) / a.n > _draws(b, 1) / b.n for a, b in pairs))

    return check


def _draws(rate: Finding, stream: int = 0) -> np.ndarray:
    """Successes of the same number of seeds, drawn again by our rate."""
    random = np.random.default_rng([stream, rate.solved, rate.n])
    return random.binomial(rate.n, rate.solved / rate.n, _AGAIN)


def _count(count: int, held: Sequence[bool], again: Iterable[np.ndarray]) -> Answer:
    """A count of columns: it holds if it is the same, and is weak if other seeds would give another."""
    # Columns are independent: the draws of each column are shuffled.
    random = np.random.default_rng(0)
    counts = np.sum([random.permutation(each.astype(int)) for each in again], axis=0)
    low, high = (int(end) for end in np.quantile(counts, (0.025, 0.975)))
    holds, drawn = sum(held) == count, low <= count <= high
    weak = low != high if holds else drawn
    detail = f"other seeds would give {low} to {high}" if low != high else ""
    return Answer(holds, weak, paper=float(count), ours=float(sum(held)), detail=detail)
