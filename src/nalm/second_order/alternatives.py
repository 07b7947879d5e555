"""Whether the rows rule out the discrete weights next to those that were found.

A weight is determined if each of its neighbouring discrete values is worse. The weight of `577 a` is not
determined if `578 a` fits the rows just as badly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from scipy import stats
from torch import Tensor

from nalm.second_order.discretise import snapped
from nalm.second_order.flat import Flat

_STEPS = (-1.0, -0.5, 0.5, 1.0)
"""Distances to the neighbouring discrete values of units: whole numbers, or halves."""
_BLOCK = 32
"""How many parameters are changed per block, each in a separate copy."""
_SAME = 1e-9
"""Outputs whose relative difference is below this belong to the same function."""
_DOUBT = 0.025
"""The probability from which on an alternative counts as worse by chance alone."""


def open_weights(flat: Flat, vector: Tensor, x: Tensor, y: Tensor, allowed: Tensor | None = None) -> bool:
    """Whether a neighbouring discrete value of some weight would fit these rows as well.

    Args:
        flat: the architecture.
        vector: discrete weights.
        x: inputs, `n x in`.
        y: targets, `n x out`.
        allowed: how far off a right formula may be, of the shape of y, if the formula fits the rows; None if
            they are noisy, and an alternative is ruled out by larger squared residuals.
    """
    apart = _columns_apart(x)
    here, there = (flat.predict(vector[None], rows)[0] for rows in (x, apart))
    off = (here - y).abs()
    for changed in _changed(flat, vector):
        pieces = [flat.predict(changed, x[rows]) for rows in flat.pieces(len(changed), len(x), y.shape[-1])]
        outputs = torch.nan_to_num(torch.cat(pieces, 1), torch.inf)
        worse = _contradicted(outputs, y, off, allowed) if allowed is not None else _larger(outputs, y, off)
        for k in (~worse).nonzero()[:, 0].tolist():
            elsewhere = flat.predict(changed[k : k + 1], apart)[0]
            if not (_same(outputs[k], here) and _same(elsewhere, there)):
                return True
    return False


def _changed(flat: Flat, vector: Tensor) -> Iterator[Tensor]:
    """All vectors with one weight moved to another discrete value, in blocks `members x parameters`."""
    free = flat.trainable().nonzero()[:, 0]
    for block in free.split(_BLOCK):
        moves = torch.eye(len(vector), dtype=vector.dtype)[block]
        moved = snapped(flat, torch.cat([vector + step * moves for step in _STEPS]))
        moved = moved[(moved != vector).any(1)]
        if len(moved):
            yield moved.unique(dim=0)


def _columns_apart(x: Tensor) -> Tensor:
    """Numbers like those of x, but with no column constant or dependent on others."""
    turned = torch.stack([column.roll(1 + 7 * k) for k, column in enumerate(x.unbind(-1))], -1)
    grown = x[:1] + (x[:1].abs() + (x[:1] == 0)) * torch.linspace(0, 0.5, len(x), dtype=x.dtype)[:, None]
    return torch.where((x == x[:1]).all(0), grown, turned)


def _contradicted(outputs: Tensor, y: Tensor, off: Tensor, allowed: Tensor) -> Tensor:
    return ((outputs - y).abs() > 10 * off + 2 * allowed).flatten(1).any(1)


def _larger(outputs: Tensor, y: Tensor, off: Tensor) -> Tensor:
    """Which members have significantly larger squared residuals in some output."""
    more = (outputs - y).square() - off.square()
    if len(y) < 2:
        return torch.zeros(len(outputs), dtype=torch.bool)
    chance = more.std(1) / math.sqrt(len(y))
    sure = float(stats.t.ppf(1 - _DOUBT, len(y) - 1))
    return ((more.mean(1) > sure * chance) | ~more.isfinite().all(1)).any(1)


def _same(some: Tensor, others: Tensor) -> bool:
    return bool(((some - others).abs() <= _SAME * (1 + others.abs())).all())
