"""What the programs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from nalm.evaluate.intervals import Interval
from nalm.papers.agreement import Finding
from nalm.papers.metrics import Metric, Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _own(runs: Runs) -> Interval:
    raise TypeError("A program measures by itself, not from runs of the benchmark.")


def measure(name: str, label: str = "", *, rising: bool = False) -> Metric:
    """A measure that a program takes by itself."""
    return Metric(name, label, rising, _own)


def exact(value: Tensor | float) -> Finding:
    """A number that is computed, not sampled."""
    return Finding(float(value), None, None, 1)


def found(interval: Interval, n: int) -> Finding:
    """A number with its interval."""
    return Finding(interval.value, interval.low, interval.high, n)


def lattice(first: Tensor, second: Tensor) -> Tensor:
    """All pairs, the second value changing fastest: `(first * second) x 2`, float64."""
    return torch.cartesian_prod(first.double(), second.double())


def steps(low: float, high: float, count: int) -> Tensor:
    """Evenly spaced numbers, both ends among them, float64; the middle of -1 and 1 is exactly 0."""
    k = torch.arange(count, dtype=torch.float64)
    return (low * (count - 1 - k) + high * k) / (count - 1)


def row_of_panels(figure: Figure, count: int, width: float = 4.2, height: float = 3.8) -> Sequence[Axes]:
    """Panels side by side."""
    figure.set_size_inches(width * count, height)
    axes: np.ndarray = figure.subplots(1, count, squeeze=False)[0]
    return list(axes)
