"""What the papers say in words, as questions that our numbers answer.

A claim is contradicted only where our intervals exclude it: "better on 4 ranges" stands as long as four
ranges are among those where the one may be better than the other, and among no fewer than those where it
surely is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nalm.evaluate.intervals import success_interval
from nalm.papers.verdicts import Finding

Key = tuple[str, str, str]
"""Row, column and metric."""


class Findings(Mapping[Key, Finding]):
    """All that was measured for a table or figure, by row, column and metric."""

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
        """The success of a row in a column."""
        return self._found[row, column, "success"]


Check = Callable[[Findings], bool]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes:
        row: what it is about.
        text: what it says, in our words.
        check: whether it holds by what we found.
    """

    row: str
    text: str
    check: Check


def full(row: str, columns: Iterable[str] | None = None) -> Check:
    """All seeds succeed in these columns, by default in all."""
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
    """All seeds succeed in so many columns."""

    def check(f: Findings) -> bool:
        rates = [f.rate(row, c) for c in f.columns(row)]
        return sum(r.value == 1 for r in rates) <= count <= sum(map(_may_be_full, rates))

    return check


def some_on(row: str, count: int) -> Check:
    """Some seed succeeds in so many columns."""

    def check(f: Findings) -> bool:
        rates = [f.rate(row, c) for c in f.columns(row)]
        sure = sum((r.low or 0) > _none(r.n) for r in rates)
        return sure <= count <= sum((r.value or 0) > 0 or _may_be_some(r) for r in rates)

    return check


def better_on(row: str, other: str, count: int) -> Check:
    """One row succeeds more often than another in so many columns."""

    def check(f: Findings) -> bool:
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in f.columns(row)]
        return sum(map(_surely, pairs)) <= count <= sum(map(_maybe, pairs))

    return check


def better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """One row succeeds more often than another, taken over these columns; in none of them surely less."""

    def check(f: Findings) -> bool:
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in _listed(f, row, columns)]
        gain = sum((a.value or 0) - (b.value or 0) for a, b in pairs)
        return gain > 0 and not any(_surely((b, a)) for a, b in pairs)

    return check


def not_better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """One row succeeds surely more often than another in none of these columns."""
    return lambda f: not any(_surely((f.rate(row, c), f.rate(other, c))) for c in _listed(f, row, columns))


def best(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """No other row succeeds surely more often, all runs of these columns taken together."""
    return lambda f: not any(_surely((_pooled(f, r, columns), _pooled(f, row, columns))) for r in rows)


def worst(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """No other row succeeds surely less often, all runs of these columns taken together."""
    return lambda f: not any(_surely((_pooled(f, row, columns), _pooled(f, r, columns))) for r in rows)


def alike(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """Two rows succeed equally often in these columns."""

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
    """All of several."""
    return lambda f: all(check(f) for check in checks)


def total(f: Findings, row: str, columns: Iterable[str] | None = None) -> float:
    """The rates of a row in these columns, added up."""
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
    """Whether the interval overlaps with that of as many seeds that all succeed."""
    return (rate.high or 0) >= (success_interval(rate.n, rate.n).low or 0)


def _may_be_none(rate: Finding) -> bool:
    return (rate.low or 0) <= _none(rate.n)


def _may_be_some(rate: Finding) -> bool:
    """Whether a rate above none, seen by someone else, would overlap with ours."""
    return (rate.high or 0) > (success_interval(1, rate.n).low or 0)


def _none(n: int) -> float:
    return success_interval(0, n).high or 0.0


def _surely(pair: tuple[Finding, Finding]) -> bool:
    return (pair[0].low or 0) > (pair[1].high or 0)


def _maybe(pair: tuple[Finding, Finding]) -> bool:
    return (pair[0].high or 0) > (pair[1].low or 0)
