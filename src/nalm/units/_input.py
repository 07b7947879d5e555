"""Check the input of a unit: it has the right shape and precision, or an error says what is wrong."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from nalm.errors import ArgumentError


class Sized(Protocol):
    """The sizes that an input must fit."""

    in_features: int
    batch_shape: torch.Size


def checked_input(unit: Sized, parameter: Tensor, x: Tensor) -> Tensor:
    """The input in the precision of the unit's parameter; an error if it does not fit."""
    kind = type(unit).__name__
    if not isinstance(x, Tensor):
        raise ArgumentError("input", f"a tensor for this {kind}", type(x).__name__)
    if x.shape[-1:] != (unit.in_features,):
        raise ArgumentError(
            "input", f"of last dimension {unit.in_features} for this {kind}", f"shape {tuple(x.shape)}"
        )
    # Compared with the parameter, not with `batch_shape`: that is not known while a program is traced.
    batch = parameter.shape[: len(unit.batch_shape)]
    if unit.batch_shape and (x.dim() != len(batch) + 2 or x.shape[: len(batch)] != batch):
        expected = "x".join(map(str, unit.batch_shape)) + f" x n x {unit.in_features}"
        raise ArgumentError("input", f"of shape {expected} for this {kind}", f"shape {tuple(x.shape)}")
    if x.dtype == parameter.dtype:
        return x
    if x.is_floating_point() and torch.is_autocast_enabled(x.device.type):
        return x.to(parameter.dtype)
    hint = "Nothing is cast silently: use input.to(...) or the unit's .to(...)."
    raise ArgumentError("input", f"of dtype {parameter.dtype} like this {kind}", str(x.dtype), hint)
