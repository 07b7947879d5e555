"""A convolutional network that compares two images without reading either."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class PairCNN(nn.Module):
    """Both images as the channels of one, compared by a convolutional network alone (thesis, D.3.2).

    Args:
        in_features: ignored: the network takes images, not readings.
        out_features: number of results.

    Its two readings are zeros: it reads no digit. The outputs are those of `DigitPair`.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.layers = nn.Sequential(
            *(nn.Conv2d(2, 20, 5), nn.MaxPool2d(2), nn.ReLU()),
            *(nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
            *(nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, out_features)),
        )

    def forward(self, images: Tensor) -> Tensor:
        """`n x 2 x 28 x 28` to `n x 4`."""
        results: Tensor = self.layers(images)
        return torch.cat([results, results.new_zeros(len(results), 2), results], -1)
