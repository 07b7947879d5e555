"""How far predictions are off: measures under which a fit is a least-squares problem.

`PLAIN` is the difference. `LOGARITHMIC` is the logarithm of the ratio of magnitudes: products become sums,
large and small targets count equally, and a wrong sign does no harm yet. Members of one population may use
different measures; their results are compared by the plain one.
"""

from __future__ import annotations

from enum import IntEnum

import torch
from torch import Tensor

_TINY = 1e-300
_FAR = 700.0
"""Larger logarithms are clipped to this: a prediction of zero is far off, not infinitely far."""


class Measure(IntEnum):
    """How a member of a population measures its error."""

    PLAIN = 0
    LOGARITHMIC = 1


def residuals(predictions: Tensor, y: Tensor, logarithmic: Tensor) -> Tensor:
    """Residuals `members x n x out`: predictions of that shape, y `n x out`, logarithmic `members`, bool.

    Targets of zero have no logarithm; their rows are ignored in that measure.
    """
    ratio = (predictions.abs() + _TINY).log() - (y.abs() + _TINY).log()
    logarithms = torch.where(y != 0, ratio.clamp(-_FAR, _FAR), 0.0)
    return torch.where(logarithmic[:, None, None], logarithms, predictions - y)


def slopes(predictions: Tensor, y: Tensor, logarithmic: Tensor) -> Tensor:
    """Derivatives of the residuals by the predictions, of the same shape."""
    usable = (predictions.abs() > _TINY) & (y != 0)
    inverse = torch.where(usable, 1 / torch.where(usable, predictions, 1.0), 0.0)
    return torch.where(logarithmic[:, None, None], inverse, 1.0)
