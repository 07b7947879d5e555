"""How exactly the numbers of a table are given: what a formula must meet to be called exact.

A number stands for all numbers that are stored as it is. Whole numbers stand for themselves; decimals that
were rounded, to places or to digits, for half a unit of the last one; other numbers for the rounding of
float32, where all numbers of a column are of that precision, or of float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

import torch
from torch import Tensor

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
_MOST_DIGITS = 12
"""A column whose numbers have more digits than this was not rounded to be written down."""
_ROUNDINGS = 8.0
"""Roundings of intermediate results that a target may have gone through, in the way it was computed."""


def tolerance(x: Tensor, y: Tensor, slope: Tensor) -> Tensor:
    """How far a right formula may be from the targets at most, of the shape of y, `n x out`.

    Args:
        x: inputs, `n x in`.
        y: targets, `n x out`.
        slope: derivatives of the outputs by the inputs, `n x out x in`: how roundings grow on their way.
    """
    inputs = torch.stack([_relative(column) for column in x.unbind(-1)])
    targets = torch.stack([_relative(column) for column in y.unbind(-1)])
    # The target of inputs in float32 was computed in float32, whatever it is stored as now.
    epsilon = torch.maximum(inputs.max(), targets)
    reach = (torch.nan_to_num(slope, 0.0, 0.0, 0.0) * x[:, None]).abs().sum(-1)
    half_units = torch.stack([_half_unit(column) for column in y.unbind(-1)], -1)
    return half_units + _ROUNDINGS * epsilon * (reach + y.abs())


def is_whole(values: Tensor) -> bool:
    """Whether all of these are whole numbers."""
    return bool((values == values.round()).all())


def _relative(column: Tensor) -> Tensor:
    """The rounding of a column's numbers, as a part of each."""
    single = bool((column.float().double() == column).all()) and not _written(column.tolist())
    return column.new_tensor(_SINGLE if single else _DOUBLE)


def _half_unit(column: Tensor) -> Tensor:
    """Half a unit of the last digit of each number, where a column was rounded to be written; else zero."""
    decimals = _written(column.tolist())
    if decimals is None or is_whole(column):
        return torch.zeros_like(column)
    places = [max(0, -int(value.as_tuple().exponent)) for value in decimals]
    digits = [_digits(value) for value in decimals]
    if places.count(max(places)) >= digits.count(max(digits)):  # rounded to places
        return torch.full_like(column, 0.5 * 10.0 ** -max(places))
    sizes = column.abs().clamp_min(torch.finfo(column.dtype).tiny).log10().floor()
    return 0.5 * 10.0 ** (sizes + 1 - max(digits))


def _written(values: Iterable[float]) -> list[Decimal] | None:
    """The numbers as they would be written, or None if one of them has too many digits to have been."""
    found = []
    for value in values:
        decimal = Decimal(repr(value)).normalize()
        if _digits(decimal) > _MOST_DIGITS:
            return None
        found.append(decimal)
    return found


def _digits(value: Decimal) -> int:
    return len(value.as_tuple().digits) if math.isfinite(value) else 0
