"""Numbers per model, and sums and means over everything but the models."""

from __future__ import annotations

import torch
from torch import Tensor


def per_model(value: Tensor | float, like: Tensor) -> Tensor:
    """A number, or one per model, shaped to broadcast over `like` of shape `models x ...`."""
    return torch.as_tensor(value, dtype=like.dtype, device=like.device).reshape(
        (-1,) + (1,) * (like.dim() - 1)
    )


def model_sums(tensor: Tensor) -> Tensor:
    """The sum of each model's numbers: `models x ...` to `models`."""
    return tensor.sum(tuple(range(1, tensor.dim()))) if tensor.dim() > 1 else tensor


def model_means(tensor: Tensor) -> Tensor:
    """The mean of each model's numbers: `models x ...` to `models`."""
    return tensor.mean(tuple(range(1, tensor.dim()))) if tensor.dim() > 1 else tensor
