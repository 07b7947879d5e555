"""How good a model is on data that it was not fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.second_order.flat import Flat

PRECISION = 1e-5
"""Residuals below this share of the targets, or of their deviation, count as zero: the error that the papers
allow a weight, and more than the units' epsilons cause."""
_ROUNDING = 1e-7
"""The rounding of data in float32, as a share of the targets' typical size, for targets near zero."""
_EXTREME, _FAR_OFF = 0.1, 0.03
"""The share of rows, such as quotients near zero, that may be off by more, and the largest share of the
target by which they may be off."""
_SURE = 2.0
"""Squared residuals count as larger if their mean is larger by this many standard errors."""
EXPLAINED = 0.5
"""A model that explains less of the variance of a target than this has failed."""


@dataclass(frozen=True)
class Quality:
    """How far one model is off on fresh rows.

    Attributes:
        error: mean squared error.
        explained: the share of the variance that is explained, for the output where it is smallest.
        off: absolute residuals, `rows x out`.
        none: bounds up to which residuals count as zero, of the same shape.
        far: bounds up to which residuals may go in a few extreme rows, of the same shape.
    """

    error: float
    explained: float
    off: Tensor
    none: Tensor
    far: Tensor

    @property
    def fits(self) -> bool:
        """Whether nothing is left to explain, in any output."""
        extreme = (~(self.off <= self.none)).double().mean(0)
        return bool((extreme <= _EXTREME).all() and (self.off <= self.far).all())

    @property
    def perfect(self) -> bool:
        """Whether nothing is left in any row."""
        return bool((self.off <= self.none).all())

    @property
    def failed(self) -> bool:
        """Whether the targets are not explained."""
        return not (self.fits or self.explained >= EXPLAINED)

    def as_good_as(self, other: Quality) -> bool:
        """Whether this is no worse.

        It is no worse if it fits, unless only the other fits every row. It is worse if only the other fits.
        If neither fits, as with noise, its squared residuals must not be significantly larger in any output.
        """
        if self.fits or other.fits:
            return self.perfect or (self.fits and not other.perfect)
        more = self.off.square() - other.off.square()
        if len(more) < 2:
            return bool((more <= 0).all())  # a single row has no standard error
        chance = more.std(0) / math.sqrt(len(more))
        return bool((more.mean(0) <= _SURE * chance).all())


def qualities(
    flat: Flat, vectors: Tensor, x: Tensor, y: Tensor, targets: Tensor | None = None
) -> list[Quality]:
    """The quality of each member on fresh rows; small is relative to all `targets`, by default y."""
    targets = y if targets is None else targets
    size, spread = y.abs(), targets.var(0, correction=0)
    usual = targets.abs().mean(0)
    deviation = torch.where(spread > 0, spread.sqrt(), usual)
    varying = (y - targets.mean(0)).abs() + deviation
    none = PRECISION * torch.minimum(size, varying) + _ROUNDING * torch.minimum(usual, deviation)
    far = _FAR_OFF * size + PRECISION * usual
    # A constant target has no variance; its residuals must be small relative to the target itself.
    scale = torch.where(spread > 0, spread, (PRECISION * usual).square())
    found = []
    for k in range(len(vectors)):  # one by one, because there are many fresh rows
        off = (flat.predict(vectors[k : k + 1], x)[0] - y).abs()
        errors = off.square().mean(0)
        explained = torch.where(errors > 0, 1 - errors / scale, 1.0).min()
        if not off.isfinite().all():
            errors, explained = torch.full_like(errors, torch.inf), torch.tensor(-torch.inf)
        found.append(Quality(float(errors.mean()), float(explained), off, none, far))
    return found


def best(found: Sequence[Quality]) -> int:
    """Index of the lowest error; the first of equal ones."""
    return min(range(len(found)), key=lambda k: found[k].error)
