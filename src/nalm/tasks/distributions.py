"""Distributions other than the uniform one: truncated normal, Benford, and one distribution per input.

Thesis, section 5.6 (inputs of different sign) and section 5.7 (table 5.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_above_zero
from nalm.streams import standard_normal
from nalm.tasks._base import Numbers
from nalm.tasks.ranges import Distribution, check_interval, of_inputs


@dataclass(frozen=True)
class TruncatedNormal(Distribution):
    """TN(mean, sd)[low, high): a normal distribution kept to an interval, written `tn(mean;sd;low:high)`."""

    kind = "truncated normal"

    mean: float
    sd: float
    low: float
    high: float

    def __post_init__(self) -> None:
        check_above_zero("sd", self.sd)
        check_interval(self.low, self.high)
        if not self._inside() > 1e-3:
            expected = "an interval that contains more than a thousandth of the normal distribution"
            raise ArgumentError("range", expected, str(self))

    def __str__(self) -> str:
        return f"tn({self.mean:g};{self.sd:g};{self.low:g}:{self.high:g})"

    @property
    def segments(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        """The interval."""
        return ((self.low, self.high),)

    def numbers(self, gaps: int) -> dict[str, Any]:
        """Mean, standard deviation, both ends, and the share of the normal distribution below each end."""
        below = [self._share(end) for end in (self.low, self.high)]
        ends = {"low": self.low, "high": self.high, "below_low": below[0], "below_high": below[1]}
        return {"mean": self.mean, "sd": self.sd, **ends}

    @staticmethod
    def draw(u: Tensor, numbers: Numbers) -> Tensor:
        """The normal quantile of a share between the shares below both ends."""
        n = {name: of_inputs(numbers[name], u) for name in ("mean", "sd", "low", "high")}
        start, end = of_inputs(numbers["below_low"], u), of_inputs(numbers["below_high"], u)
        x = n["mean"] + n["sd"] * standard_normal(start + u * (end - start))
        x = torch.where(x == 0, n["sd"] * 2.0**-23, x)  # never an exact zero to divide by
        return torch.minimum(torch.maximum(x, n["low"]), n["high"])

    def mean_absolute(self) -> float:
        """E[|x|]."""
        return self._expected(abs)

    def moment(self, k: int) -> float:
        """E[x ** k]."""
        return self._expected(lambda x: x**k)

    def mean_inverse_square(self) -> float:
        """E[1 / x ** 2]; infinite if the interval touches zero."""
        return math.inf if self.touches_zero() else self._expected(lambda x: x**-2)

    def _share(self, x: float) -> float:
        return 0.5 * math.erfc((self.mean - x) / (self.sd * math.sqrt(2)))

    def _inside(self) -> float:
        return self._share(self.high) - self._share(self.low)

    def _expected(self, value: Callable[[float], float]) -> float:
        from scipy.integrate import quad

        def weighted(x: float) -> float:
            return value(x) * math.exp(-0.5 * ((x - self.mean) / self.sd) ** 2)

        middle = [x for x in (0.0, self.mean) if self.low < x < self.high]
        total = quad(weighted, self.low, self.high, points=middle or None, epsabs=0, epsrel=1e-10)[0]
        return float(total) / (self.sd * math.sqrt(2 * math.pi) * self._inside())


_STARTS = [math.log10(digit) for digit in range(1, 11)]
"""The share of numbers whose leading digit is smaller than 1, 2, … 10."""


@dataclass(frozen=True)
class Benford(Distribution):
    """Whole numbers of one length, their leading digit as in Benford's law, written `benford(10:100)`.

    A leading digit d has the probability log10(1 + 1/d); the digits after it are uniform.
    """

    kind = "benford"

    low: int
    high: int

    def __post_init__(self) -> None:
        length = len(str(self.low))
        if self.low != 10 ** (length - 1) or self.high != 10 * self.low or length > 6:
            raise ArgumentError("range", "from a power of ten to the next, up to a million", str(self))

    def __str__(self) -> str:
        return f"benford({self.low}:{self.high})"

    @property
    def segments(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        """The interval."""
        return ((float(self.low), float(self.high)),)

    def numbers(self, gaps: int) -> dict[str, Any]:
        """The power of ten of the leading digit."""
        return {"unit": float(self.low)}

    @staticmethod
    def draw(u: Tensor, numbers: Numbers) -> Tensor:
        """The digit whose part of (0, 1) contains u; the position of u in it gives the digits after it."""
        unit = of_inputs(numbers["unit"], u)
        digit, start, width = torch.ones_like(u), torch.zeros_like(u), torch.full_like(u, _STARTS[1])
        for d in range(2, 10):
            reached = u >= _STARTS[d - 1]
            digit = torch.where(reached, float(d), digit)
            start = torch.where(reached, _STARTS[d - 1], start)
            width = torch.where(reached, _STARTS[d] - _STARTS[d - 1], width)
        rest = torch.minimum(((u - start) / width * unit).floor(), unit - 1)
        return digit * unit + rest

    def mean_absolute(self) -> float:
        """E[|x|]."""
        return self.moment(1)

    def moment(self, k: int) -> float:
        """E[x ** k]."""
        x = np.arange(self.low, self.high, dtype=float)
        share = np.log10(1 + 1 / np.floor(x / self.low)) / self.low
        return float((share * x**k).sum())

    def mean_inverse_square(self) -> float:
        """E[1 / x ** 2]."""
        return self.moment(-2)


@dataclass(frozen=True)
class ByInput(Distribution):
    """One distribution per input: the first input from the first, and so on; written `1:2&-2:-1`.

    With more inputs than distributions, these repeat in the same order, so that the irrelevant inputs are
    spread evenly over them.
    """

    parts: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        if len({part.kind for part in self.parts}) > 1:
            raise ArgumentError("range", "distributions of the same kind for all inputs", str(self))

    def __str__(self) -> str:
        return "&".join(map(str, self.parts))

    @property
    def kind(self) -> str:  # type: ignore[override]
        """That of its parts."""
        return self.parts[0].kind

    @property
    def draw(self) -> Callable[[Tensor, Numbers], Tensor]:  # type: ignore[override]
        """That of its parts."""
        return self.parts[0].draw

    @property
    def segments(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        """The intervals of all parts, first input first."""
        return tuple(segment for part in self.parts for segment in part.segments)

    @property
    def gaps(self) -> int:
        """The largest number of gaps of a part."""
        return max(part.gaps for part in self.parts)

    def of_input(self, index: int) -> Distribution:
        """The distribution of one input."""
        return self.parts[index % len(self.parts)]

    def numbers(self, gaps: int) -> dict[str, Any]:
        """The numbers of all parts."""
        found = [part.numbers(gaps) for part in self.parts]
        return {name: [part[name] for part in found] for name in found[0]}
