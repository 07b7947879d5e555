"""A unit under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from nalm.units import Unit

Reference = Callable[[Any, dict[str, Any]], Any]
"""From inputs `n x in` and parameters by name, both numpy arrays, to outputs `n x out`."""


@dataclass(frozen=True)
class Subject:
    """A unit under test.

    Attributes:
        unit: its class.
        reference: an independent implementation in numpy, if there is one.
        exact: relative error allowed at ideal weights, in addition to that of an `epsilon` attribute.
        options: options for its constructor.
    """

    unit: type[Unit]
    reference: Reference | None = None
    exact: float = 1e-12
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, inputs: int = 3, outputs: int = 2, batch_shape: tuple[int, ...] = ()) -> Unit:
        """A unit in float64 with reproducible weights."""
        unit = self.unit(inputs, outputs, batch_shape=batch_shape, dtype=torch.float64, **self.options)
        unit.reset_parameters(torch.Generator().manual_seed(7))
        return unit.eval()
