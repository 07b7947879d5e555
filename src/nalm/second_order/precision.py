"""The precision of the numbers in a table: how closely a formula must fit them to be called exact.

A number may be off by as much as the way it is stored allows. Whole numbers are exact; decimals rounded to
places or to digits may be off by half a unit of the last one; other numbers by the rounding of float32, if
all numbers of the column have that precision, or of float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

import torch
from torch import Tensor

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
_MOST_DIGITS = 12
"""A column whose numbers have more digits than this was not rounded for writing."""
_ROUNDINGS = 8.0
"""How many roundings of intermediate results are allowed for in the computation of a target."""


def tolerance(x: Tensor, y: Tensor, slope: Tensor, roundings: float = _ROUNDINGS) -> Tensor:
    """The largest distance of a right formula from the targets, of the shape of y, `n x out`.

    Args:
        x: inputs, `n x in`.
        y: targets, `n x out`.
        slope: derivatives of the outputs by the inputs, `n x out x in`, by which roundings are magnified.
        roundings: how many roundings of intermediate results are allowed for.
    """
    inputs = torch.stack([_relative(column) for column in x.unbind(-1)])
    targets = torch.stack([_relative(column) for column in y.unbind(-1)])
    # The target of inputs in float32 was computed in float32, even if it is now stored in float64.
    epsilon = torch.maximum(inputs.max(), targets)
    reach = (torch.nan_to_num(slope, 0.0, 0.0, 0.0) * x[:, None]).abs().sum(-1)
    half_units = torch.stack([_half_unit(column) for column in y.unbind(-1)], -1)
    return half_units + roundings * epsilon * (reach + y.abs())


def is_whole(values: Tensor) -> bool:
    """Whether all of these are whole numbers."""
    return bool((values == values.round()).all())


def _relative(column: Tensor) -> Tensor:
    """The relative rounding of a column's numbers."""
    single = bool((column.float().double() == column).all()) and not _written(column.tolist())
    return column.new_tensor(_SINGLE if single else _DOUBLE)


def _half_unit(column: Tensor) -> Tensor:
    """Half a unit of the last digit of each number, if the column was rounded for writing; else zero."""
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
    """The numbers as decimals, or None if one has too many digits to have been rounded for writing."""
    found = []
    for value in values:
        decimal = Decimal(repr(value)).normalize()
        if _digits(decimal) > _MOST_DIGITS:
            return None
        found.append(decimal)
    return found


def _digits(value: Decimal) -> int:
    return len(value.as_tuple().digits) if math.isfinite(value) else 0
