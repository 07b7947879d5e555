"""What the papers say in words, as checks of our numbers.

A claim is contradicted only where our numbers exclude it. Counts such as "better on 4 ranges" depend on the
seeds. To check one, the same number of seeds is drawn many times, by rates that agree with ours: the claim
holds if its count is within the middle 95 % of the counts drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from nalm.evaluate.intervals import success_interval
from nalm.papers.agreement import Finding

Key = tuple[str, str, str]
"""Row, column and metric."""


class Findings(Mapping[Key, Finding]):
    """Everything measured for a table or figure, by row, column and metric."""

    def __init__(self, found: Mapping[Key, Finding]) -> None:
        self._found = dict(found)

    def __getitem__(self, key: Key) -> Finding:
        return self._found[key]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def columns(self, row: str, metric: str = "success") -> list[str]:
        """The columns of a row."""
        return [column for r, column, m in self._found if r == row and m == metric]

    def rate(self, row: str, column: str) -> Finding:
        """The success rate of a row in a column."""
        return self._found[row, column, "success"]


Check = Callable[[Findings], bool]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes:
        row: what it is about.
        text: what it says, in our words.
        check: whether our findings support it.
    """

    row: str
    text: str
    check: Check


def full(row: str, columns: Iterable[str] | None = None) -> Check:
    """All seeds succeed in each of these columns, by default in every column."""
    return lambda f: all(_may_be_full(f.rate(row, c)) for c in _listed(f, row, columns))


def not_full(row: str, columns: Iterable[str] | None = None) -> Check:
    """Not all seeds succeed in any of these columns."""
    return lambda f: all((f.rate(row, c).value or 0) < 1 for c in _listed(f, row, columns))


def none(row: str, columns: Iterable[str] | None = None) -> Check:
    """No seed succeeds in any of these columns."""
    return lambda f: all(_may_be_none(f.rate(row, c)) for c in _listed(f, row, columns))


def some(row: str, columns: Iterable[str] | None = None) -> Check:
    """Some seed succeeds in each of these columns."""
    return lambda f: all((f.rate(row, c).value or 0) > 0 for c in _listed(f, row, columns))


def full_on(row: str, count: int) -> Check:
    """All seeds succeed in this number of columns."""
    return lambda f: _likely(count, (_draws(f.rate(row, c)) == f.rate(row, c).n for c in f.columns(row)))


def some_on(row: str, count: int) -> Check:
    """Some seed succeeds in this number of columns."""
    return lambda f: _likely(count, (_draws(f.rate(row, c)) > 0 for c in f.columns(row)))


def better_on(row: str, other: str, count: int) -> Check:
    """One row succeeds more often than another in this number of columns."""
    return lambda f: _likely(
        count, (_draws(f.rate(row, c)) > _draws(f.rate(other, c), 1) for c in f.columns(row))
    )


def better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """One row succeeds more often than another over all these columns, and surely less often in none."""

    def check(f: Findings) -> bool:
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in _listed(f, row, columns)]
        gain = sum((a.value or 0) - (b.value or 0) for a, b in pairs)
        return gain > 0 and not any(_surely((b, a)) for a, b in pairs)

    return check


def not_better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """In none of these columns does one row succeed surely more often than another."""
    return lambda f: not any(_surely((f.rate(row, c), f.rate(other, c))) for c in _listed(f, row, columns))


def best(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """The row succeeds at all, and no other surely more often, over all runs of these columns."""
    return lambda f: (
        bool(_pooled(f, row, columns).value)
        and not any(_surely((_pooled(f, r, columns), _pooled(f, row, columns))) for r in rows)
    )


def worst(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """No other row succeeds surely less often, over all runs of these columns."""
    return lambda f: not any(_surely((_pooled(f, row, columns), _pooled(f, r, columns))) for r in rows)


def alike(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """In none of these columns does either row succeed surely more often."""

    def check(f: Findings) -> bool:
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in _listed(f, row, columns)]
        return not any(_surely((a, b)) or _surely((b, a)) for a, b in pairs)

    return check


def lower(metric: str, row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """A measure of one row is lower than that of another, on average over the columns where both have it."""

    def check(f: Findings) -> bool:
        both = [(f.get((row, c, metric)), f.get((other, c, metric))) for c in _listed(f, row, columns)]
        pairs = [(a.value, b.value) for a, b in both if a and b and None not in (a.value, b.value)]
        return bool(pairs) and sum(a for a, _ in pairs if a) < sum(b for _, b in pairs if b)

    return check


def both(*checks: Check) -> Check:
    """All of these checks hold."""
    return lambda f: all(check(f) for check in checks)


def total(f: Findings, row: str, columns: Iterable[str] | None = None) -> float:
    """The sum of a row's rates in these columns."""
    return sum(f.rate(row, c).value or 0 for c in _listed(f, row, columns))


def _pooled(f: Findings, row: str, columns: Iterable[str] | None) -> Finding:
    """The rate of a row over all runs of these columns."""
    rates = [f.rate(row, c) for c in _listed(f, row, columns)]
    runs = sum(rate.n for rate in rates)
    share = success_interval(round(sum((rate.value or 0) * rate.n for rate in rates)), runs)
    return Finding(share.value, share.low, share.high, runs)


def _listed(f: Findings, row: str, columns: Iterable[str] | None) -> list[str]:
    return f.columns(row) if columns is None else list(columns)


def _may_be_full(rate: Finding) -> bool:
    """Whether the interval overlaps that of the same number of seeds that all succeed."""
    return (rate.high or 0) >= (success_interval(rate.n, rate.n).low or 0)


def _may_be_none(rate: Finding) -> bool:
    return (rate.low or 0) <= _none(rate.n)


_AGAIN = 4000
"""How many times the seeds are drawn again."""


def _draws(rate: Finding, stream: int = 0) -> np.ndarray:
    """Successes of the same number of seeds, drawn again by rates from the Jeffreys posterior of ours."""
    solved = round((rate.value or 0) * rate.n)
    random = np.random.default_rng([stream, solved, rate.n])
    return random.binomial(rate.n, random.beta(solved + 0.5, rate.n - solved + 0.5, _AGAIN))


def _likely(count: int, holds: Iterable[np.ndarray]) -> bool:
    """Whether a count of columns is within the middle 95 % of the counts drawn."""
    # Columns are independent: the draws of each column are shuffled.
    random = np.random.default_rng(0)
    counts = sum(random.permutation(each.astype(int)) for each in holds)
    low, high = np.quantile(counts, (0.025, 0.975))
    return bool(low <= count <= high)


def _none(n: int) -> float:
    return success_interval(0, n).high or 0.0


def _surely(pair: tuple[Finding, Finding]) -> bool:
    return (pair[0].low or 0) > (pair[1].high or 0)


def _maybe(pair: tuple[Finding, Finding]) -> bool:
    return (pair[0].high or 0) > (pair[1].low or 0)
