"""The share of digits that a prediction gets wrong (Trask et al. 2018, section 4.4).

The prediction is rounded to an integer. Ours: digits are compared place by place from the units up, as many
as the target has; with the wrong sign none matches.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.tasks.measures import Measure

PLACES = 5
"""Decimal places of the largest result: 9999 + 9999."""


@dataclass(frozen=True)
class WrongDigits(Measure):
    """The mean over samples of the share of the target's digits that the rounded prediction does not have."""

    name: str = "wrong_digits"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        return (1 - matching(prediction[..., 0], target[..., 0])).sum(-1)


def matching(prediction: Tensor, target: Tensor) -> Tensor:
    """For each sample, the share of the target's digits that the rounded prediction has in their places."""
    said, true = prediction.double().nan_to_num().round(), target.double().round()
    right, count = torch.zeros_like(true), torch.zeros_like(true)
    for place in range(PLACES):
        unit = 10.0**place
        there = (true.abs() >= unit) | torch.full_like(true, place == 0, dtype=torch.bool)
        same = (said.abs() / unit).floor() % 10 == (true.abs() / unit).floor() % 10
        right, count = right + (there & same), count + there
    # A sign is right if it is the target's; zero has none.
    return right / count * (said * true >= 0)
