"""Ranges: unions of intervals to draw from, their moments, and the nine of the single module task."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nalm.errors import ArgumentError, nearest

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"\s*({_NUMBER})\s*:\s*({_NUMBER})\s*")


@dataclass(frozen=True)
class Range:
    """The uniform distribution on a union of intervals, in ascending order."""

    segments: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise ArgumentError("range", "at least one interval low:high", "none")
        for low, high in self.segments:
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ArgumentError("range", "intervals low:high with low < high", f"{low:g}:{high:g}")
        for (_, end), (start, _) in zip(self.segments, self.segments[1:]):
            if start < end:
                raise ArgumentError("range", "intervals in ascending order that do not overlap", str(self))

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read `1:2`, or a union such as `-6:-2|2:6`."""
        segments = []
        for part in text.split("|"):
            match = _INTERVAL.fullmatch(part)
            if match is None:
                close = nearest(text, TEST_RANGES)
                hint = f"Did you mean {close!r}?" if close else ""
                raise ArgumentError("range", "low:high, or a union such as -6:-2|2:6", repr(text), hint)
            segments.append((float(match[1]), float(match[2])))
        return cls(tuple(segments))

    def __str__(self) -> str:
        return "|".join(f"{low:g}:{high:g}" for low, high in self.segments)

    @property
    def low(self) -> float:
        """The lower end."""
        return self.segments[0][0]

    @property
    def span(self) -> float:
        """The total length of the intervals."""
        return sum(high - low for low, high in self.segments)

    @property
    def jumps(self) -> list[tuple[float, float]]:
        """(end of an interval once earlier gaps are closed, width of the gap after it), but for the last."""
        jumps, position = [], self.low
        for (low, high), (following, _) in zip(self.segments, self.segments[1:]):
            position += high - low
            jumps.append((position, following - high))
        return jumps

    def mean(self) -> float:
        """E[x]."""
        return self._average(lambda x: x * x / 2)

    def mean_absolute(self) -> float:
        """E[|x|]."""
        return self._average(lambda x: x * abs(x) / 2)

    def moment(self, k: int) -> float:
        """E[x ** k]."""
        return self._average(lambda x: x ** (k + 1) / (k + 1))

    def mean_inverse_square(self) -> float:
        """E[1 / x ** 2]; infinite if the range touches zero."""
        if any(low <= 0 <= high for low, high in self.segments):
            return math.inf
        return self._average(lambda x: -1 / x)

    def _average(self, antiderivative) -> float:  # type: ignore[no-untyped-def]
        total = sum(antiderivative(high) - antiderivative(low) for low, high in self.segments)
        return total / self.span


def _union(*pairs: tuple[float, float]) -> Range:
    return Range(tuple((float(low), float(high)) for low, high in pairs))


TEST_RANGES: dict[str, Range] = {
    "-20:-10": _union((-40, -20)),
    "-2:-1": _union((-6, -2)),
    "-1.2:-1.1": _union((-6.1, -1.2)),
    "-0.2:-0.1": _union((-2, -0.2)),
    "-2:2": _union((-6, -2), (2, 6)),
    "0.1:0.2": _union((0.2, 2)),
    "1:2": _union((2, 6)),
    "1.1:1.2": _union((1.2, 6)),
    "10:20": _union((20, 40)),
}
"""The nine training ranges by name, and the test range of each (thesis, table 3.2)."""


def parse_pair(text: str) -> tuple[Range, Range]:
    """Training and test range from a name, or from `train=>test`.

    A training range that is not one of the nine needs its test range written out.
    """
    if not isinstance(text, str):
        raise ArgumentError("range", "a name such as '1:2', or 'train=>test'", repr(text))
    train, arrow, test = text.partition("=>")
    interpolation = Range.parse(train)
    if arrow:
        return interpolation, Range.parse(test)
    known = {Range.parse(name): test for name, test in TEST_RANGES.items()}
    if interpolation not in known:
        hint = f"Known ranges: {', '.join(TEST_RANGES)}."
        raise ArgumentError("range", "a known range, or train=>test", repr(text), hint)
    return interpolation, known[interpolation]
