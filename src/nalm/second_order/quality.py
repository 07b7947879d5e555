"""How good a model is on data that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.second_order.flat import Flat

PRECISION = 1e-6
"""Residuals of this part of the targets count as none: the precision of float32, and of the units' epsilons."""
_SLACK = 1.01
"""Two errors from a thousand noisy rows that differ by less than this are the same."""
EXPLAINED = 0.5
"""A model that explains less of the targets' variance than this has failed."""


@dataclass(frozen=True)
class Quality:
    """Errors of one model on fresh rows.

    Attributes:
        error: mean squared error.
        middle: median of the absolute residuals, which a few extreme rows (quotients near zero) do not decide.
        typical: median size of the targets.
        spread: variance of the targets.
        square: mean square of the targets.
    """

    error: float
    middle: float
    typical: float
    spread: float
    square: float

    @property
    def fits(self) -> bool:
        """Whether nothing is left to explain."""
        return self.middle <= PRECISION * self.typical

    @property
    def failed(self) -> bool:
        """Whether the targets are not explained."""
        if self.fits:
            return False
        return not self.error <= (1 - EXPLAINED) * max(self.spread, PRECISION**2 * self.square)

    def as_good_as(self, other: Quality) -> bool:
        """Whether this is no worse, in the mean or, where extreme rows decide that, in the middle."""
        return self.fits or self.error <= _SLACK * other.error or self.middle <= _SLACK * other.middle


def qualities(flat: Flat, vectors: Tensor, x: Tensor, y: Tensor) -> list[Quality]:
    """The quality of each member."""
    typical, spread = float(y.abs().median()), float(y.var(0, correction=0).mean())
    square, found = float(y.square().mean()), []
    for k in range(len(vectors)):  # one by one: fresh rows are many
        off = flat.predict(vectors[k : k + 1], x)[0] - y
        error, middle = float(off.square().mean()), float(off.abs().median())
        finite = bool(off.isfinite().all())
        found.append(
            Quality(*((error, middle) if finite else (torch.inf, torch.inf)), typical, spread, square)
        )
    return found


def best(found: Sequence[Quality]) -> int:
    """Index of the lowest error; of equal ones the first."""
    return min(range(len(found)), key=lambda k: found[k].error)
