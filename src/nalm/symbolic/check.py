"""Check on sampled inputs that a model computes what its formula says.

A formula may differ from the model by the effect of rounding and of the epsilons that keep logarithms finite,
but by no more than a small change of the inputs would cause. Rows outside the range for which a unit says
that its formula holds, and rows at which the formula has no value, are ignored.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from nalm.symbolic.sources import Source

_ROWS = 8
"""Rows of each kind."""
_CHANGE, _TIMES = 1e-5, 3.0
"""A small change of an input, and how many times its effect is allowed."""
_TRUTH = 0.02
"""How far truth values, and results computed from them, may be off: comparisons give almost 0 and 1."""


@dataclass(frozen=True)
class Checked:
    """How a formula compares with its model: whether any rows could be compared, and a row that differs."""

    compared: bool
    inputs: tuple[float, ...] = ()
    formula: float = 0.0
    model: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether there is a row at which they differ."""
        return bool(self.inputs)


def checked(
    source: Source, formulas: Sequence[Any], symbols: Sequence[Any], *, idealised: bool, truth: bool
) -> Checked:
    """Compare a model with its formulas.

    Args:
        source: the model.
        formulas: an expression per output.
        symbols: one per input.
        idealised: whether the formulas hold only where the units' readings do.
        truth: whether comparisons or logic rules are involved, whose results are almost 0 or 1.
    """
    x = samples(len(symbols))
    expected = _values(tuple(formulas), tuple(symbols))
    rows = len(expected)
    with torch.no_grad():
        result, holds = source.run(x)
    got, moved = (part.double().numpy() for part in result.split(rows))
    if got.shape != expected.shape:
        return Checked(True, tuple(x[0].tolist()), float("nan"), float(got[0, 0]))
    with np.errstate(all="ignore"):
        size = 1 + np.abs(got) + np.abs(expected)
        precision = max(_precision(source), 1e4 * torch.finfo(result.dtype).eps) + (_TRUTH if truth else 0.0)
        allowed = precision * size + _TIMES * np.nan_to_num(np.abs(moved - got), nan=0.0, posinf=0.0)
        meant = np.isfinite(expected)
        if idealised:
            meant &= holds[:rows, None].numpy()
        off = meant & ~(np.abs(expected - got) <= allowed)
    if not off.any():
        return Checked(bool(meant.any()))
    row, column = np.argwhere(off)[0]
    return Checked(True, tuple(x[row].tolist()), float(expected[row, column]), float(got[row, column]))


def _precision(source: Source) -> float:
    """The relative error to allow: more for units that add an epsilon to magnitudes, sampled from 0.01 on."""
    return 1e-4 if any(getattr(unit, "epsilon", 0) for unit in source.units) else 1e-6


@functools.lru_cache(maxsize=64)
def samples(inputs: int) -> Tensor:
    """Rows of whole numbers, of truth values, of numbers around 1 and -1, and of several sizes and signs.

    They are followed by the same rows again, with each number slightly changed.
    """
    generator = torch.Generator().manual_seed(inputs)
    u, sign = (torch.rand(_ROWS, inputs, generator=generator, dtype=torch.float64) for _ in range(2))
    signed = torch.where(sign < 0.5, -1.0, 1.0)
    rows = torch.cat([
        (10 * u).floor() - 4,
        u.round(),
        0.5 + 1.5 * u,
        -0.5 - 1.5 * u,
        signed * 10 ** (2 * u - 1),
        signed * 10 ** (5 * u.flip(0) - 2),
        10 ** (2 * u.flip(0) - 1),
    ])  # fmt: skip
    return torch.cat([rows, rows + _CHANGE * (1 + rows.abs())])


@functools.lru_cache(maxsize=1024)  # thousands of trained models share a few formulas
def _values(formulas: tuple[Any, ...], symbols: tuple[Any, ...]) -> np.ndarray:
    """The formulas at the samples, `n x out`; NaN where they have no real value."""
    x = samples(len(symbols))
    columns = list(x[: len(x) // 2].numpy().T)
    # sympy's own `select` fails on conditions that are the same for all rows.
    cases = {"select": functools.partial(_select, len(columns[0]))}
    function = sp.lambdify(symbols, list(formulas), [cases, "numpy"])
    rows = []
    with np.errstate(all="ignore"):
        for value in function(*columns):
            real = np.where(np.isreal(value), np.real(value), np.nan).astype(float)
            rows.append(np.broadcast_to(real, columns[0].shape))
    return np.stack(rows, -1)


def _select(rows: int, conditions: Sequence[Any], values: Sequence[Any], default: Any = np.nan) -> np.ndarray:
    where = [np.broadcast_to(np.asarray(condition, bool), rows) for condition in conditions]
    return np.select(where, [np.broadcast_to(value, rows) for value in values], default)
