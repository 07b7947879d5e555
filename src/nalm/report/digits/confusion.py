"""What digits were read as: how often each digit was read as which, in a table that is shaded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nalm.experiment.rebuild import spec_of
from nalm.experiment.store import Record
from nalm.models.pair_cnn import PairCNN
from nalm.report.digits.cases import DigitCase

DIGITS = "test/digits"


@dataclass(frozen=True)
class Square:
    """A cell of the table.

    Attributes:
        text: the share in per cent; empty for none.
        shade: how dark it is, from 0 to 1.
        right: whether the digit was read as what it is.
    """

    text: str
    shade: float
    right: bool


@dataclass(frozen=True)
class Matrix:
    """The table of one run.

    Attributes:
        label: the name of the model.
        seed: the seed of the run.
        accuracy: how many digits were read right, in per cent.
        rows: the digits that occur, each with what it was read as.
    """

    label: str
    seed: int
    accuracy: str
    rows: tuple[tuple[int, tuple[Square, ...]], ...]


def confusion(run: Record) -> np.ndarray | None:
    """Joint frequencies, true digit x read as; None for a network that reads no digits.

    Where a sample has two digits, they are counted together.
    """
    held = run.errors.get(DIGITS)
    if held is None or not reads_digits(run.model):
        return None
    table = np.asarray(held)[..., run.chosen]
    return table if table.ndim == 2 else table.mean(0)


def reads_digits(model: str) -> bool:
    """Whether a model computes with what its network reads; the other one sees images itself."""
    spec = spec_of(model)
    return spec is None or not any(layer.kind is PairCNN for layer in spec.layers)


def accuracy(table: np.ndarray) -> float:
    """The share of digits that were read right."""
    return float(np.trace(table) / table.sum())


def matrix_of(case: DigitCase, label: str) -> Matrix | None:
    """The table of the run with the lowest seed; None for a network that reads no digits."""
    run = case.runs[0]
    table = confusion(run)
    if table is None:
        return None
    rows = tuple((digit, _squares(digit, counts)) for digit, counts in enumerate(table) if counts.sum())
    return Matrix(label, run.seed, f"{100 * accuracy(table):.1f}", rows)


def _squares(digit: int, counts: np.ndarray) -> tuple[Square, ...]:
    shares = counts / counts.sum()
    return tuple(Square(_percent(s), round(float(s) ** 0.5, 2), k == digit) for k, s in enumerate(shares))


def _percent(share: float) -> str:
    """Whole per cents; a share that rounds to none is told from one that is none."""
    return f"{100 * share:.0f}" if 100 * share >= 0.5 else "<1" if share > 0 else ""
