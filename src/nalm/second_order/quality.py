"""How good a model is on data that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.second_order.flat import Flat

PRECISION = 1e-5
"""Residuals of this part of the targets count as none: what the papers allow a weight to be off, and more
than the epsilons inside the units bring about."""
_SLACK = 1.01
"""Two errors from a thousand noisy rows that differ by less than this are the same."""
EXPLAINED = 0.5
"""A model that explains less of the targets' variance than this has failed."""


@dataclass(frozen=True)
class Quality:
    """Errors of one model on fresh rows.

    Attributes:
        error: mean squared error.
        usual: three quarters of the rows are off by no more: a few extreme ones (quotients near zero) do
            not decide.
        typical: median size of the targets.
        deviation: median distance of the targets from their median.
        spread: variance of the targets.
    """

    error: float
    usual: float
    typical: float
    deviation: float
    spread: float

    @property
    def fits(self) -> bool:
        """Whether nothing is left to explain."""
        return self.usual <= PRECISION * self.typical

    @property
    def failed(self) -> bool:
        """Whether the targets are not explained."""
        if self.fits:
            return False
        floor = PRECISION * self.typical
        in_mean = self.error <= (1 - EXPLAINED) * max(self.spread, floor**2)
        return not (in_mean and self.usual <= max(self.deviation, floor))

    def as_good_as(self, other: Quality) -> bool:
        """Whether this is no worse, in the mean or, where extreme rows decide that, for the usual row."""
        return self.fits or self.error <= _SLACK * other.error or self.usual <= _SLACK * other.usual


def qualities(flat: Flat, vectors: Tensor, x: Tensor, y: Tensor) -> list[Quality]:
    """The quality of each member."""
    middle = y.median(0).values
    typical, deviation = float(y.abs().median()), float((y - middle).abs().median())
    about = (typical, deviation, float(y.var(0, correction=0).mean()))
    found = []
    for k in range(len(vectors)):  # one by one: fresh rows are many
        off = flat.predict(vectors[k : k + 1], x)[0] - y
        if off.isfinite().all():
            found.append(Quality(float(off.square().mean()), _upper_quarter(off.abs()), *about))
        else:
            found.append(Quality(torch.inf, torch.inf, *about))
    return found


def _upper_quarter(values: Tensor) -> float:
    ordered = values.flatten().sort().values
    return float(ordered[(3 * len(ordered)) // 4])


def best(found: Sequence[Quality]) -> int:
    """Index of the lowest error; of equal ones the first."""
    return min(range(len(found)), key=lambda k: found[k].error)
