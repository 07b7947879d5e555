"""Checks of what papers say about accuracies."""

from __future__ import annotations

from collections.abc import Iterable

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Findings
from nalm.papers.shared.digits import ACCURACY


def above(row: str, other: str, column: str, other_column: str | None = None) -> Check:
    """The accuracy of one row is above that of another; weak if their intervals overlap or there are none."""

    def check(f: Findings) -> Answer:
        a, b = f[row, column, ACCURACY], f[other, other_column or column, ACCURACY]
        ours, theirs = a.value or 0.0, b.value or 0.0
        first, second = (a, b) if ours > theirs else (b, a)
        apart = first.low is not None and second.high is not None and first.low > second.high
        return Answer(ours > theirs, not apart, detail=f"{ours:.4g} % against {theirs:.4g} %")

    return check


def at_least(row: str, columns: Iterable[str], percent: float) -> Check:
    """The accuracy of a row is at least so many per cent in each of these columns that has one."""
    listed = tuple(columns)

    def check(f: Findings) -> Answer:
        held = _held(f, row, listed)
        least = min((finding.value or 0.0 for finding in held), default=0.0)
        weak = not held or any(_contains(finding, percent) for finding in held)
        return Answer(least >= percent, weak, detail=f"lowest {least:.4g} %")

    return check


def below(row: str, columns: Iterable[str], percent: float) -> Check:
    """The accuracy of a row is below so many per cent in each of these columns that has one."""
    listed = tuple(columns)

    def check(f: Findings) -> Answer:
        held = _held(f, row, listed)
        most = max((finding.value or 0.0 for finding in held), default=100.0)
        weak = not held or any(_contains(finding, percent) for finding in held)
        return Answer(most < percent, weak, detail=f"highest {most:.4g} %")

    return check


def within(row: str, other: str, column: str, points: float) -> Check:
    """Two accuracies differ by at most so many points; weak if an interval is wider than that."""

    def check(f: Findings) -> Answer:
        a, b = f[row, column, ACCURACY], f[other, column, ACCURACY]
        ours, theirs = a.value or 0.0, b.value or 0.0
        weak = any((width := _width(each)) is None or width > 2 * points for each in (a, b))
        return Answer(abs(ours - theirs) <= points, weak, detail=f"{ours:.4g} % against {theirs:.4g} %")

    return check


def narrower(row: str, other: str, columns: Iterable[str]) -> Check:
    """The interval over seeds of one row is narrower than that of another in each of these columns."""
    listed = tuple(columns)

    def check(f: Findings) -> Answer:
        pairs = [(_width(f[row, c, ACCURACY]), _width(f[other, c, ACCURACY])) for c in listed]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        words = "; ".join(f"{a:.3g} against {b:.3g} points" for a, b in known)
        return Answer(bool(known) and all(a < b for a, b in known), not known, detail=words)

    return check


def _held(f: Findings, row: str, columns: Iterable[str]) -> list[Finding]:
    found = (f.get((row, column, ACCURACY)) for column in columns)
    return [finding for finding in found if finding is not None and finding.value is not None]


def _width(finding: Finding) -> float | None:
    return None if finding.low is None or finding.high is None else finding.high - finding.low


def _contains(finding: Finding, value: float) -> bool:
    return finding.low is not None and finding.high is not None and finding.low < value <= finding.high
