"""Shared by the checks: sample inputs, and when two results are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.units import Unit


def inputs(features: int) -> Tensor:
    """Eight rows of either sign, away from zero."""
    generator = torch.Generator().manual_seed(11)
    sizes = 0.5 + 2 * torch.rand(8, features, dtype=torch.float64, generator=generator)
    signs = torch.where(torch.rand(8, features, generator=generator) < 0.5, -1.0, 1.0).double()
    return sizes * signs


def weights(unit: Unit) -> list[Tensor]:
    """Copies of a unit's weights and gates."""
    return [value.detach().clone() for value in unit.discrete().values()]


def close(actual: Tensor, expected: Tensor, tolerance: float, what: str) -> None:
    """Assert equal shapes, and equal values up to a relative error."""
    actual, expected = actual.detach(), expected.detach()
    assert actual.shape == expected.shape, (
        f"{what}: shape {tuple(actual.shape)} is not {tuple(expected.shape)}"
    )
    error = (
        float(((actual - expected).abs() / expected.abs().clamp(min=1.0)).max()) if actual.numel() else 0.0
    )
    assert error <= tolerance, f"{what}: off by {error:.3g}, more than {tolerance:g}"


def refused(action: Callable[[], Any]) -> None:
    """Assert that the action raises an ArgumentError."""
    try:
        action()
    except ArgumentError:
        return
    raise AssertionError("bad input was accepted")
