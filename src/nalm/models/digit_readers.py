"""Networks that read pictures of digits: images `n x 28 x 28`, brightness 0 to 1, to readings `n x values`.

They are trained through the unit behind them; no label of a digit ever reaches them.

Deviation: the papers' programs apply ReLU before they pool. Here the maximum is taken first, which gives the
same numbers from a quarter of the comparisons.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalm.models.selection import softargmax

MEAN, DEVIATION = 0.1307, 0.3081
"""Brightness of MNIST's training images, by which PyTorch's MNIST example standardises them."""
AT_ONCE = 500
"""Images that are read at once in evaluation: more would not fit into the cache."""


class Reader(nn.Module):
    """Base of all readers.

    Args:
        layers: from standardised images `n x 1 x 28 x 28` to `n x values`.

    Attributes:
        values: number of values per image.
    """

    values: int

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, images: Tensor) -> Tensor:
        """`n x 28 x 28` to `n x values`; in evaluation, part by part."""
        if self.training or len(images) <= AT_ONCE:
            return self.read(images)
        return torch.cat([self.read(part) for part in images.split(AT_ONCE)])

    def read(self, images: Tensor) -> Tensor:
        """All images at once."""
        result: Tensor = self.layers((images[:, None] - MEAN) / DEVIATION)
        return result


class RegressionReader(Reader):
    """One number per image (thesis, figure E.4; Madsen & Johansen 2020, section 4.2).

    conv 20@5, pool, conv 50@5, pool, linear 800-500, linear 500-1, with ReLU between them.
    """

    values = 1

    def __init__(self) -> None:
        convolutions = (*_first(20, 5), *_next(20, 50, 5))
        super().__init__(
            nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 1))
        )


class ClassifierReader(Reader):
    """The digit as the soft index of the largest of ten logits (thesis, figure E.1 and equation 7.3).

    conv 32@3, conv 64@3, pool, dropout 1/4, linear 9216-128, dropout 1/2, linear 128-10, with ReLU between.
    """

    values = 1

    def __init__(self) -> None:
        super().__init__(
            nn.Sequential(
                *(FirstConvolution(32, 3), nn.ReLU()),
                *_next(32, 64, 3),
                *(nn.Dropout(0.25), nn.Flatten()),
                *(nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)),
            )
        )

    def read(self, images: Tensor) -> Tensor:
        """All images at once."""
        return soft_digit(super().read(images))


class SmallClassifierReader(Reader):
    """Like `ClassifierReader`, with the convolutions of `RegressionReader`: four times faster on a CPU.

    conv 20@5, pool, conv 50@5, pool, linear 800-128, linear 128-10, with ReLU between. A few epochs neither
    overfit nor drive logits far apart: there is no dropout, and the temperature of the soft index is learnt.

    Args:
        temperature: the temperature to begin with. With a high one, readings stay near 4.5 until the unit's
            weights have grown; with a low one, a unit whose results are at first too small drives all
            readings to 9, where they stay.
    """

    values = 1

    def __init__(self, temperature: float = 0.5) -> None:
        super().__init__(
            nn.Sequential(
                *(*_first(20, 5), *_next(20, 50, 5), nn.Flatten()),
                *(nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10)),
            )
        )
        self.digit = SoftDigit(temperature)

    def read(self, images: Tensor) -> Tensor:
        """All images at once."""
        result: Tensor = self.digit(super().read(images))
        return result


class ExampleReader(Reader):
    """Ten numbers per image: the network of PyTorch's MNIST example of 2018 (Trask et al. 2018, section 4.2).

    conv 10@5, pool, conv 20@5, dropout of channels, pool, linear 320-50, dropout 1/2, linear 50-10.

    Deviation: the example ends in a log-softmax, whose values a linear cell could not count; it is left out.

    Args:
        dropout: the part that dropout leaves out, of channels and of values.
    """

    values = 10

    def __init__(self, dropout: float = 0.5) -> None:
        super().__init__(
            nn.Sequential(
                *_first(10, 5),
                *(nn.Conv2d(10, 20, 5), nn.Dropout2d(dropout), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
                *(nn.Linear(320, 50), nn.ReLU(), nn.Dropout(dropout), nn.Linear(50, 10)),
            )
        )


READERS: dict[str, Callable[[], Reader]] = {
    "regression": RegressionReader,
    "classifier": ClassifierReader,
    "small-classifier": SmallClassifierReader,
    "warm-classifier": functools.partial(SmallClassifierReader, temperature=8.0),
}
"""Readers of one number by name."""


def soft_digit(logits: Tensor) -> Tensor:
    """The digit behind ten logits, `n x 10` to `n x 1`."""
    return softargmax(logits)[:, None] - 1  # equation 7.3 counts from 1


class SoftDigit(nn.Module):
    r"""The digit behind ten logits, with a temperature :math:`\tau = e^{-s}` that is learnt.

    Args:
        temperature: the temperature to begin with.
    """

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.sharpness = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin with the given temperature."""
        nn.init.constant_(self.sharpness, -math.log(self.temperature))

    def forward(self, logits: Tensor) -> Tensor:
        """`n x 10` to `n x 1`."""
        return soft_digit(logits * self.sharpness.exp())


class FirstConvolution(nn.Conv2d):
    """A convolution of images with one channel, as one product of matrices.

    It gives the same numbers as `nn.Conv2d` up to rounding. On a CPU it takes two thirds of the time, and its
    result has the channels last in memory, which makes pooling four times faster and the next convolution
    a quarter.
    """

    def __init__(self, channels: int, size: int) -> None:
        super().__init__(1, channels, size)

    def forward(self, input: Tensor) -> Tensor:
        """`n x 1 x h x w` to `n x channels x h' x w'`."""
        size = self.kernel_size[0]
        patches = input[:, 0].unfold(1, size, 1).unfold(2, size, 1)
        n, height, width = patches.shape[:3]
        rows = patches.reshape(n * height * width, size * size)
        result = torch.addmm(self.bias, rows, self.weight.flatten(1).t())  # type: ignore[arg-type]
        return result.view(n, height, width, -1).permute(0, 3, 1, 2)


class LargeConvolution(nn.Conv2d):
    """A convolution of images with one channel by a large kernel, as a product of matrices.

    A row of the product gives `BLOCK` neighbouring columns of the result from the stripe that they share: far
    fewer numbers are copied than with one patch for each column. It gives the same numbers as `nn.Conv2d` up
    to rounding, and trains in two thirds of the time.
    """

    BLOCK = 7

    def __init__(self, channels: int, size: int) -> None:
        super().__init__(1, channels, size)

    def forward(self, input: Tensor) -> Tensor:
        """`n x 1 x h x w` to `n x channels x h' x w'`."""
        size = self.kernel_size[0]
        columns = input.shape[-1] - size + 1
        padded = nn.functional.pad(input[:, 0], (0, -columns % self.BLOCK))
        stripes = padded.unfold(1, size, 1).unfold(2, size + self.BLOCK - 1, self.BLOCK)
        n, height = stripes.shape[:2]
        product = stripes.flatten(3).flatten(0, 2) @ self._shifted()
        result = product.view(n, height, -1, self.out_channels)[:, :, :columns] + self.bias  # type: ignore[operator]
        return result.permute(0, 3, 1, 2)

    def _shifted(self) -> Tensor:
        """The kernel at each of the places in a stripe, `points of a stripe x (places * channels)`."""
        width = self.kernel_size[0] + self.BLOCK - 1
        # Each copy of a row that is one longer than the stripe begins one place later.
        repeated = nn.functional.pad(self.weight[:, 0], (0, self.BLOCK)).repeat(1, 1, self.BLOCK)
        places = repeated[..., : self.BLOCK * width].unflatten(2, (self.BLOCK, width))
        return places.permute(1, 3, 2, 0).flatten(2).flatten(0, 1)


def _first(channels: int, size: int) -> tuple[nn.Module, ...]:
    return FirstConvolution(channels, size), nn.MaxPool2d(2), nn.ReLU()


def _next(before: int, after: int, size: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(before, after, size), nn.MaxPool2d(2), nn.ReLU()
