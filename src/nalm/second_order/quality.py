"""How good a model is on data that it was not fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.second_order.flat import Flat

PRECISION = 1e-5
"""Residuals of this part of the targets, or of their deviation, count as none: what the papers allow a weight
to be off, and more than the epsilons inside the units bring about."""
_ROUNDING = 1e-7
"""Of the targets' usual size, the rounding of data in float32, where targets are differences near zero."""
_EXTREME, _FAR_OFF = 0.1, 0.03
"""The part of the rows, such as quotients near zero, that may be off by more, and by what part of the target
at most."""
_SURE = 2.0
"""Standard errors by which squared residuals must be larger on average to be larger at all."""
EXPLAINED = 0.5
"""A model that explains less of the variance of a target than this has failed."""


@dataclass(frozen=True)
class Quality:
    """How far one model is off on fresh rows.

    Attributes:
        error: mean squared error.
        explained: the part of the variance that is explained, of the output of which it is the least.
        off: absolute residuals, `rows x out`.
        none: residuals up to which they count as none, of the same shape.
        far: residuals up to which they may go in a few extreme rows, of the same shape.
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

        It is if it fits, unless only the other does so in every row. It is not if only the other fits. Where
        neither does, as with noise, squared residuals must not be larger, in any output, by more than chance
        would have it.
        """
        if self.fits or other.fits:
            return self.perfect or (self.fits and not other.perfect)
        more = self.off.square() - other.off.square()
        if len(more) < 2:
            return bool((more <= 0).all())  # a single row says nothing of chance
        chance = more.std(0) / math.sqrt(len(more))
        return bool((more.mean(0) <= _SURE * chance).all())


def qualities(
    flat: Flat, vectors: Tensor, x: Tensor, y: Tensor, targets: Tensor | None = None
) -> list[Quality]:
    """The quality of each member on fresh rows; all `targets`, by default y, say what is small."""
    targets = y if targets is None else targets
    size, spread = y.abs(), targets.var(0, correction=0)
    usual = targets.abs().mean(0)
    deviation = torch.where(spread > 0, spread.sqrt(), usual)
    varying = (y - targets.mean(0)).abs() + deviation
    none = PRECISION * torch.minimum(size, varying) + _ROUNDING * torch.minimum(usual, deviation)
    far = _FAR_OFF * size + PRECISION * usual
    # The variance of a constant target is none; what is left of it must be small against the target itself.
    scale = torch.where(spread > 0, spread, (PRECISION * usual).square())
    found = []
    for k in range(len(vectors)):  # one by one: fresh rows are many
        off = (flat.predict(vectors[k : k + 1], x)[0] - y).abs()
        errors = off.square().mean(0)
        explained = torch.where(errors > 0, 1 - errors / scale, 1.0).min()
        if not off.isfinite().all():
            errors, explained = torch.full_like(errors, torch.inf), torch.tensor(-torch.inf)
        found.append(Quality(float(errors.mean()), float(explained), off, none, far))
    return found


def best(found: Sequence[Quality]) -> int:
    """Index of the lowest error; of equal ones the first."""
    return min(range(len(found)), key=lambda k: found[k].error)
