"""Points that surfaces and curves are computed at."""

from __future__ import annotations

import torch
from torch import Tensor


def lattice(first: Tensor, second: Tensor) -> Tensor:
    """All pairs, the second value varying fastest: `(first * second) x 2`, float64."""
    return torch.cartesian_prod(first.double(), second.double())


def evenly_spaced(low: float, high: float, count: int) -> Tensor:
    """Evenly spaced numbers, both ends included, float64; between -1 and 1, the middle one is exactly 0."""
    k = torch.arange(count, dtype=torch.float64)
    return (low * (count - 1 - k) + high * k) / (count - 1)
