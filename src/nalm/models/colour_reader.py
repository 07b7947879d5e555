r"""Two digits that share an image, one per colour channel, each found by its own spatial transformer.

.. math:: z_d = \mathrm{softargmax}\bigl(\mathrm{classifier}(\mathrm{transformer}_d(x))\bigr) - 1,
    \qquad d = 1, 2

Thesis, section 4.6.1.2, figures E.2 and E.3. One classifier reads both digits. It sees both channels: only by
where its transformer looks can it tell which digit is meant.

Deviations: equation 7.3 counts from 1; here 1 is subtracted, since the first class is the digit 0. The
temperature of the softargmax, which the thesis does not give for this task, is 1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.models.selection import softargmax
from nalm.models.spatial_transformer import Device, Localisation, SpatialTransformer

DIGITS = 2
"""Digits in an image, and transformers that look for them."""


def colour_classifier(*, device: Device = None, dtype: torch.dtype | None = None) -> nn.Sequential:
    """From images `n x 2 x 21 x 21` to logits `n x 10`, the network of the thesis's figure E.3."""
    return nn.Sequential(
        nn.Conv2d(2, 32, 3, device=device, dtype=dtype),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, device=device, dtype=dtype),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(-3),
        nn.Linear(4096, 128, device=device, dtype=dtype),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(128, 10, device=device, dtype=dtype),
    )


class ColourReader(nn.Module):
    """What is read of the two digits of an image.

    Args:
        device: where the parameters live.
        dtype: precision of the parameters.
    """

    def __init__(self, *, device: Device = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.transformers = nn.ModuleList(
            SpatialTransformer(Localisation(device=device, dtype=dtype), device=device, dtype=dtype)
            for _ in range(DIGITS)
        )
        self.classifier = colour_classifier(device=device, dtype=dtype)

    def forward(self, images: Tensor) -> Tensor:
        """Images `n x 2 x 42 x 42` to readings `n x 2`, each in [0, 9]."""
        logits = [self.classifier(transformer(images)) for transformer in self.transformers]
        return softargmax(torch.stack(logits, -2)) - 1
