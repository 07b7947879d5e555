"""How far weights are from discrete values: used by the penalties and by the sparsity error."""

from __future__ import annotations

import torch
from torch import Tensor


def distance_to_integer_sign(weight: Tensor) -> Tensor:
    """min(|w|, |1 - |w||): how far a weight is from {-1, 0, 1} (Madsen & Johansen 2020, equation 6)."""
    size = weight.abs()
    return torch.minimum(size, (1 - size).abs())


def distance_to_bit(weight: Tensor) -> Tensor:
    """min(|w|, |1 - w|): how far a weight is from {0, 1} (Madsen & Johansen 2020, equation 11)."""
    return torch.minimum(weight.abs(), (1 - weight).abs())


def distance_to_sign(weight: Tensor) -> Tensor:
    """|1 - |w||: how far a weight is from {-1, 1}."""
    return (1 - weight.abs()).abs()
