"""Tables of numbers from tensors, arrays, lists, and tables with column names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nalm.errors import ArgumentError


def matrix(argument: str, values: Any) -> Tensor:
    """A table `rows x columns` in float64 on the CPU; if the argument is y, it may be a vector.

    Args:
        argument: the name of the argument, for errors.
        values: a tensor, an array, a list of rows, a DataFrame or a Series.
    """
    made = _from_tensor(argument, values) if isinstance(values, Tensor) else _from_array(argument, values)
    if argument == "y" and made.dim() == 1:
        made = made[:, None]
    if made.dim() != 2:
        expected = "of shape n x in" if argument == "x" else "of shape n or n x out"
        raise ArgumentError(argument, expected, f"shape {tuple(made.shape)}")
    return made.contiguous()


def _from_tensor(argument: str, values: Tensor) -> Tensor:
    if values.is_complex():
        raise ArgumentError(argument, "real numbers", str(values.dtype))
    if values.is_meta:
        raise ArgumentError(argument, "numbers", "a tensor on the meta device, which holds none")
    if values.layout != torch.strided:
        raise ArgumentError(argument, "a dense tensor", str(values.layout), "Use .to_dense().")
    # A copy, because a tensor made under inference_mode cannot be used with gradients.
    return values.detach().to("cpu", torch.float64, copy=True)


def _from_array(argument: str, values: Any) -> Tensor:
    import numpy as np

    try:
        if np.iscomplexobj(values):
            raise ArgumentError(argument, "real numbers", "complex ones")
        return torch.from_numpy(np.array(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        hint = "Use a tensor, an array, a list of rows or a DataFrame."
        got = f"{type(values).__name__} ({str(error).splitlines()[0]})"
        raise ArgumentError(argument, "a table of numbers", got, hint) from None


def column_names(values: Any, names: Sequence[str] | None = None) -> list[str] | None:
    """The names of the columns: those given, or the table's own, or None if it has none."""
    if names is None:
        names = getattr(values, "columns", None)
    if names is None:
        return None
    if isinstance(names, str):
        raise ArgumentError("names", "a list of names, one per column of x", repr(names))
    try:
        return [str(name) for name in names]
    except TypeError:
        raise ArgumentError("names", "a list of names, one per column of x", repr(names)) from None


def check_finite(argument: str, table: Tensor, names: Sequence[str] | None) -> None:
    """Refuse a number that is not finite, naming its row and column."""
    wrong = (~table.isfinite()).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        where = f" in column {names[column]}" if names is not None else ""
        raise ArgumentError(argument, "finite everywhere", f"{table[row, column].item()} in row {row}{where}")
