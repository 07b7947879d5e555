"""What the papers say in words, as checks of our numbers.

A claim is judged by its own number first: a count must be the same count, the best row must have the highest
rate, what is better must have the higher rate. An exact test then says whether the seeds could tell: an
answer is *weak* if they could not. "Full success" and "no success" stand until the test excludes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nalm.evaluate.intervals import success_interval
from nalm.papers.agreement import CHANCE, Finding, can_tell, exact_test, many_would_differ

Key = tuple[str, str, str]
"""Row, column and metric."""


class Findings(Mapping[Key, Finding]):
    """Everything measured for a table or figure, by row, column and metric."""

    def __init__(self, found: Mapping[Key, Finding]) -> None:
        self._found = dict(found)

    def __getitem__(self, key: Key) -> Finding:
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def columns(self, row: str, metric: str = "success") -> list[str]:
        """The columns of a row."""
        return [column for r, column, m in self._found if r == row and m == metric]

    def rate(self, row: str, column: str) -> Finding:
        """The success rate of a row in a column."""
        return self._found[row, column, "success"]


@dataclass(frozen=True)
class Answer:
    """Whether a claim holds.

    Attributes:
        holds: whether our numbers are as the claim says.
        weak: whether the seeds were too few to tell.
        paper: the number that the claim names, such as a count of ranges.
        ours: our number in its place.
        p: the chance that the exact test gives.
        detail: our numbers behind the answer, in words.
    """

    holds: bool
    weak: bool = False
    paper: float | None = None
    ours: float | None = None
    p: float | None = None
    detail: str = ""

    def __bool__(self) -> bool:
        return self.holds


Check = Callable[[Findings], "Answer | bool"]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes:
        row: what it is about.
        text: what it says, in our words.
        check: whether our findings support it.
        rows: the rows that it is about; if they are told, it is judged as soon as these are measured.
    """

    row: str
    text: str
    check: Check
    rows: tuple[str, ...] = ()

    def is_about(self, measured: Collection[str]) -> bool:
        """Whether it is known to be about none but these rows."""
        return bool(self.rows) and set(self.rows) <= set(measured)

    def answer(self, f: Findings) -> Answer:
        """What our findings say to it."""
        return _answer(self.check(f))


def full(row: str, columns: Iterable[str] | None = None) -> Check:
    """All seeds succeed in each of these columns, by default in every column."""
    return lambda f: _extreme(rates_of(f, row, columns), 1.0)


def none(row: str, columns: Iterable[str] | None = None) -> Check:
    """No seed succeeds in any of these columns."""
    return lambda f: _extreme(rates_of(f, row, columns), 0.0)


def not_full(row: str, columns: Iterable[str] | None = None) -> Check:
    """Not all seeds succeed in any of these columns."""
    return lambda f: _short_of(rates_of(f, row, columns), 1.0)


def some(row: str, columns: Iterable[str] | None = None) -> Check:
    """Some seed succeeds in each of these columns."""
    return lambda f: _short_of(rates_of(f, row, columns), 0.0)


def better_in(row: str, column: str, other: str) -> Check:
    """A row succeeds more often in one column than in another."""

    def check(f: Findings) -> Answer:
        a, b = f.rate(row, column), f.rate(row, other)
        return Answer((a.value or 0) > (b.value or 0), _p(a, b) >= CHANCE, p=_p(a, b), detail=_against(a, b))

    return check


def better_everywhere(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """One row succeeds more often than another in each of these columns where the other is not full."""

    def check(f: Findings) -> Answer:
        listed = [c for c in _listed(f, row, columns) if f.rate(other, c).solved < f.rate(other, c).n]
        return both(*(better(row, other, [c]) for c in listed))(f)  # type: ignore[return-value]

    return check


def better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """One row succeeds more often than another over all these columns, and surely less often in none."""

    def check(f: Findings) -> Answer:
        listed = _listed(f, row, columns)
        a, b = pool(rates_of(f, row, listed)), pool(rates_of(f, other, listed))
        lost = any(surely_more(f.rate(other, c), f.rate(row, c)) for c in listed)
        p = _p(a, b)
        holds = (a.value or 0) > (b.value or 0) and not lost
        return Answer(holds, p >= CHANCE and not lost, p=p, detail=_against(a, b))

    return check


def not_better(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """Neither in one of these columns nor over all of them does one row succeed surely more often."""

    def check(f: Findings) -> Answer:
        listed = _listed(f, row, columns)
        a, b = pool(rates_of(f, row, listed)), pool(rates_of(f, other, listed))
        gained = surely_more(a, b) or any(surely_more(f.rate(row, c), f.rate(other, c)) for c in listed)
        weak = not gained and (a.value or 0) > (b.value or 0)
        return Answer(not gained, weak, p=_p(a, b), detail=_against(a, b))

    return check


def best(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """The row succeeds at all, and no other more often, over all runs of these columns."""
    others = [other for other in rows if other != row]

    def check(f: Findings) -> Answer:
        own = pool(rates_of(f, row, columns))
        rival, name = max(((pool(rates_of(f, r, columns)), r) for r in others), key=lambda e: e[0].value or 0)
        holds = bool(own.value) and (own.value or 0) >= (rival.value or 0)
        return Answer(holds, _p(own, rival) >= CHANCE, p=_p(own, rival), detail=_rivals(own, rival, name))

    return check


def worst(row: str, rows: Iterable[str], columns: Iterable[str] | None = None) -> Check:
    """No other row succeeds less often, over all runs of these columns."""
    others = [other for other in rows if other != row]

    def check(f: Findings) -> Answer:
        own = pool(rates_of(f, row, columns))
        rival, name = min(((pool(rates_of(f, r, columns)), r) for r in others), key=lambda e: e[0].value or 0)
        holds = (own.value or 0) <= (rival.value or 0)
        return Answer(holds, _p(own, rival) >= CHANCE, p=_p(own, rival), detail=_rivals(own, rival, name))

    return check


def alike(row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """Neither in one of these columns nor over all of them does either row succeed surely more often."""

    def check(f: Findings) -> Answer:
        listed = _listed(f, row, columns)
        pairs = [(f.rate(row, c), f.rate(other, c)) for c in listed]
        a, b = pool([a for a, _ in pairs]), pool([b for _, b in pairs])
        holds = all(_p(*pair) >= CHANCE for pair in [*pairs, (a, b)])
        weak = holds and many_would_differ(a.value or 0, b.value or 0)
        return Answer(holds, weak, p=_p(a, b), detail=_against(a, b))

    return check


def at_least(row: str, columns: Iterable[str], share: float) -> Check:
    """At least this share of seeds succeeds in each of these columns."""

    def check(f: Findings) -> Answer:
        least = min(rates_of(f, row, columns), key=lambda rate: rate.value or 0)
        weak = (least.low or 0) < share <= (least.high or 0)
        return Answer((least.value or 0) >= share, weak, detail=f"lowest {least.value or 0:.2g}")

    return check


def uneven(row: str) -> Check:
    """The row succeeds surely more often in some column than in another."""

    def check(f: Findings) -> Answer:
        rates = sorted(rates_of(f, row, None), key=lambda rate: rate.value or 0)
        p = _p(rates[0], rates[-1])
        return Answer(p < CHANCE, p=p, detail=f"{rates[0].value or 0:.2g} to {rates[-1].value or 0:.2g}")

    return check


def lower(metric: str, row: str, other: str, columns: Iterable[str] | None = None) -> Check:
    """A measure of one row is lower than that of another, on average over the columns where both have it."""

    def check(f: Findings) -> Answer:
        both = [(f.get((row, c, metric)), f.get((other, c, metric))) for c in _listed(f, row, columns)]
        pairs = [(a, b) for a, b in both if a and b and a.value is not None and b.value is not None]
        if not pairs:
            return Answer(False, detail=f"no column has a {metric} of both")
        ours, theirs = (sum(x.value or 0 for x in side) / len(pairs) for side in zip(*pairs))
        told = any(_apart(a, b) if ours < theirs else _apart(b, a) for a, b in pairs)
        return Answer(ours < theirs, not told, detail=f"{ours:.3g} against {theirs:.3g}")

    return check


def both(*checks: Check) -> Check:
    """All of these checks hold; the answer is weak if one of those that decide it is."""

    def check(f: Findings) -> Answer:
        answers = [_answer(each(f)) for each in checks]
        holds = all(answer.holds for answer in answers)
        decisive = [answer for answer in answers if answer.holds == holds]
        weak = any(answer.weak for answer in decisive) if holds else all(answer.weak for answer in decisive)
        chances = [answer.p for answer in decisive if answer.p is not None]
        detail = "; ".join(dict.fromkeys(answer.detail for answer in decisive if answer.detail))
        return Answer(holds, weak, p=min(chances, default=None), detail=detail)

    return check


def total(f: Findings, row: str, columns: Iterable[str] | None = None) -> float:
    """The sum of a row's rates in these columns."""
    return sum(rate.value or 0 for rate in rates_of(f, row, columns))


def pool(rates: Sequence[Finding]) -> Finding:
    """The rate of all runs of several columns."""
    runs = sum(rate.n for rate in rates)
    share = success_interval(sum(rate.solved for rate in rates), runs)
    return Finding(share.value, share.low, share.high, runs)


def surely_more(a: Finding, b: Finding) -> bool:
    """Whether one rate is above another, by the exact test."""
    return (a.value or 0) > (b.value or 0) and _p(a, b) < CHANCE


def _answer(found: Answer | bool) -> Answer:
    return found if isinstance(found, Answer) else Answer(bool(found))


def rates_of(f: Findings, row: str, columns: Iterable[str] | None = None) -> list[Finding]:
    """The success rates of a row in these columns, by default in every column."""
    return [f.rate(row, c) for c in _listed(f, row, columns)]


def _listed(f: Findings, row: str, columns: Iterable[str] | None) -> list[str]:
    return f.columns(row) if columns is None else list(columns)


def _p(a: Finding, b: Finding) -> float:
    return exact_test(a.solved, a.n, b.solved, b.n)


def _extreme(rates: Sequence[Finding], end: float) -> Answer:
    """Whether no rate, nor all runs together, can be told from this end, 0 or 1."""
    chances = [exact_test(r.solved, r.n, round(end * r.n), r.n) for r in [*rates, pool(rates)]]
    farthest = max(rates, key=lambda rate: abs((rate.value or 0) - end))
    holds, least = min(chances) >= CHANCE, min(rate.n for rate in rates)
    weak = holds and (
        many_would_differ(farthest.value or 0, end) or not can_tell(round(end * least), least, least)
    )
    word = "lowest" if end else "highest"
    return Answer(holds, weak, p=min(chances), detail=f"{word} {farthest.value or 0:.2g}")


def _short_of(rates: Sequence[Finding], end: float) -> Answer:
    """Whether no rate is at this end, 0 or 1."""
    nearest = min(rates, key=lambda rate: abs((rate.value or 0) - end))
    p = exact_test(nearest.solved, nearest.n, round(end * nearest.n), nearest.n)
    word, holds = "highest" if end else "lowest", nearest.value != end
    return Answer(holds, holds and p >= CHANCE, p=p, detail=f"{word} {nearest.value or 0:.2g}")


def _apart(a: Finding, b: Finding) -> bool:
    """Whether one measure's interval is below another's."""
    ends = (a.value if a.high is None else a.high), (b.value if b.low is None else b.low)
    return ends[0] is not None and ends[1] is not None and ends[0] < ends[1]


def _against(a: Finding, b: Finding) -> str:
    return f"{a.value or 0:.2g} against {b.value or 0:.2g}"


def _rivals(own: Finding, rival: Finding, name: str) -> str:
    return f"{own.value or 0:.2g}; {name} {rival.value or 0:.2g}"
