"""The distributions of inputs: their contract, and the uniform one on intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.tasks._base import Numbers

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"\s*({NUMBER})\s*:\s*({NUMBER})\s*")


class Distribution:
    """The distribution of an input: a transform of uniform numbers, with the moments that thresholds need.

    Distributions of one kind share a program and differ only in their numbers.
    """

    kind: ClassVar[str]
    segments: tuple[tuple[float, float], ...]
    """The intervals that it covers."""

    def of_input(self, index: int) -> Distribution:
        """The distribution of one input: the same for all inputs, unless it is a `ByInput`."""
        return self

    @property
    def gaps(self) -> int:
        """The number of gaps between the intervals."""
        return len(self.segments) - 1

    def numbers(self, gaps: int) -> dict[str, Any]:
        """The distribution as numbers of a run, for a program that allows for `gaps` gaps."""
        raise NotImplementedError

    @staticmethod
    def draw(u: Tensor, numbers: Numbers) -> Tensor:
        """Samples from uniform numbers `models x inputs x n`."""
        raise NotImplementedError

    def mean_absolute(self) -> float:
        """E[|x|]."""
        raise NotImplementedError

    def moment(self, k: int) -> float:
        """E[x ** k]."""
        raise NotImplementedError

    def mean_inverse_square(self) -> float:
        """E[1 / x ** 2]; infinite if the intervals touch zero."""
        raise NotImplementedError

    def touches_zero(self) -> bool:
        """Whether samples can be arbitrarily close to zero."""
        return any(low <= 0 <= high for low, high in self.segments)


def of_inputs(value: Tensor, u: Tensor) -> Tensor:
    """One number per run, or several that its inputs take in turn, in a shape that fits samples."""
    value = value.to(u.dtype)
    if value.dim() > 1:
        turn = torch.arange(u.shape[1], device=u.device) % value.shape[1]
        return value[:, turn, None]
    return value.reshape((-1,) + (1,) * (u.dim() - 1))


LARGEST = 1e9
"""The largest end of an interval: the squared error of a product of two such numbers still fits float32."""


def check_interval(low: float, high: float) -> None:
    """Refuse ends that do not form an interval, or that are too large to compute with."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ArgumentError("range", "intervals low:high with low < high", f"{low:g}:{high:g}")
    if max(abs(low), abs(high)) > LARGEST:
        raise ArgumentError("range", f"within {-LARGEST:g} and {LARGEST:g}", f"{low:g}:{high:g}")


def parse_interval(text: str) -> tuple[float, float]:
    """Read `low:high`."""
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ArgumentError("range", "low:high, or a union such as -6:-2|2:6", repr(text))
    return float(match[1]), float(match[2])


@dataclass(frozen=True)
class Range(Distribution):
    """The uniform distribution on a union of intervals, in ascending order."""

    kind = "uniform"

    segments: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise ArgumentError("range", "at least one interval low:high", "none")
        for low, high in self.segments:
            check_interval(low, high)
        for (_, end), (start, _) in zip(self.segments, self.segments[1:]):
            if start < end:
                raise ArgumentError("range", "intervals in ascending order that do not overlap", str(self))

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read `1:2`, or a union such as `-6:-2|2:6`."""
        return cls(tuple(parse_interval(part) for part in text.split("|")))

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
        """For all intervals but the last: its end once earlier gaps are closed, and the width of its gap."""
        jumps, position = [], self.low
        for (low, high), (following, _) in zip(self.segments, self.segments[1:]):
            position += high - low
            jumps.append((position, following - high))
        return jumps

    def numbers(self, gaps: int) -> dict[str, Any]:
        """Low end, length and gaps, padded with gaps of width zero."""
        padded = self.jumps + [(math.inf, 0.0)] * (gaps - len(self.jumps))
        return {
            "low": self.low,
            "span": self.span,
            "cut": [cut for cut, _ in padded],
            "gap": [gap for _, gap in padded],
        }

    @staticmethod
    def draw(u: Tensor, numbers: Numbers) -> Tensor:
        """Draw from the single interval that remains when all gaps are closed, then open the gaps again."""
        x = of_inputs(numbers["low"], u) + u * of_inputs(numbers["span"], u)
        cuts, gaps = numbers["cut"], numbers["gap"]
        opened = x
        for k in range(cuts.shape[-1]):
            jump = of_inputs(gaps[..., k], u)
            opened = opened + torch.where(x >= of_inputs(cuts[..., k], u), jump, 0.0)
        return opened

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
        return math.inf if self.touches_zero() else self._average(lambda x: -1 / x)

    def _average(self, antiderivative: Callable[[float], float]) -> float:
        total = sum(antiderivative(high) - antiderivative(low) for low, high in self.segments)
        return total / self.span
