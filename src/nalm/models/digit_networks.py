"""Networks that read digits and compute with what they read: a reader, then the unit under test.

The output has the results first, then the readings, one per digit, which are looked at but never trained on.

A batch may show an image more than once: `index` then says which image stands where, and each image is read
only once. In evaluation, thousands of sequences are made of the same images.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nalm.models.digit_readers import LargeConvolution, Reader
from nalm.models.recurrent import Cell, Recurrent
from nalm.models.sequence_baselines import SequenceBaseline


class DigitSequence(nn.Module):
    """Digits one after the other into a recurrent cell (Trask et al. 2018, 4.2; Madsen & Johansen 2020, 4.2).

    Args:
        reader: from an image to `values` numbers.
        unit: from the reading and the state, side by side, to the next state; or a `SequenceBaseline`.
        results: number of values in the state.
        start: the state before the first digit: 0 for sums, 1 for products.
        shows_readings: whether the output has the readings after the results.

    Attributes:
        seen: mean of the unit's inputs in the last batch of training, for penalties on them.
    """

    def __init__(
        self,
        reader: Reader,
        unit: nn.Module,
        results: int,
        *,
        start: float = 0.0,
        shows_readings: bool = True,
    ) -> None:
        super().__init__()
        self.reader, self.unit = reader, unit
        self.results, self.start, self.shows_readings = results, start, shows_readings
        self.seen: Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what was seen: a tensor of the last step's graph can be neither copied nor stored."""
        return {**self.__dict__, "seen": None}

    def forward(self, images: Tensor, index: Tensor | None = None) -> Tensor:
        """Results after each digit, and the readings: `n x length x (results + readings)`.

        Args:
            images: `n x length x 28 x 28`, or with `index` any number of images `m x 28 x 28`.
            index: which image stands where, `n x length`.
        """
        if index is None:
            readings = self.reader(images.flatten(0, 1)).unflatten(0, images.shape[:2])
        else:
            readings = self.reader(images)[index]
        states = self.results_of(readings)
        return torch.cat([states, readings], -1) if self.shows_readings else states

    def results_of(self, readings: Tensor) -> Tensor:
        """The results after each digit, from readings `n x length x values`: the arithmetic alone."""
        if isinstance(self.unit, SequenceBaseline):
            result: Tensor = self.unit(readings)
            return result
        states, _ = Recurrent(self._cell(readings.shape[-1]), batch_first=True)(readings)
        self.seen = self._mean_inputs(readings, states) if self.training else None
        return states

    def _cell(self, values: int) -> Cell:
        return Cell(self.unit, values, self.results, start=self.start)

    def _mean_inputs(self, readings: Tensor, states: Tensor) -> Tensor:
        """The means over batch and time of what the unit saw: readings, and the states before them."""
        first = torch.full_like(states[:, :1], self.start)
        before = torch.cat([first, states[:, :-1]], 1)
        return torch.cat([readings, before], -1).mean((0, 1))


class DigitPair(nn.Module):
    """Two digits side by side, each read by the same reader, then the unit (thesis, sections 4.6.1.1, 5.10).

    Args:
        reader: from an image to one number.
        unit: from two readings to the result.
    """

    def __init__(self, reader: Reader, unit: nn.Module) -> None:
        super().__init__()
        self.reader, self.unit = reader, unit

    def forward(self, images: Tensor, index: Tensor | None = None) -> Tensor:
        """See `with_readings`; the arguments are those of `DigitSequence`, with two digits."""
        if index is None:
            readings = self.reader(images.flatten(0, 1)).unflatten(0, images.shape[:2])
        else:
            readings = self.reader(images)[index]
        return with_readings(self.unit, readings[..., 0])


class ColourPair(nn.Module):
    """Two digits in the colour channels of one image, then the unit (thesis, section 4.6.1.2).

    Args:
        reader: from images `n x 2 x side x side` to two readings.
        unit: from two readings to the result.
    """

    def __init__(self, reader: nn.Module, unit: nn.Module) -> None:
        super().__init__()
        self.reader, self.unit = reader, unit

    def forward(self, images: Tensor) -> Tensor:
        """See `with_readings`."""
        return with_readings(self.unit, self.reader(images))


def with_readings(unit: nn.Module, readings: Tensor) -> Tensor:
    """Of two readings `n x 2`: the result, the readings, and the result of the readings as whole numbers.

    The last, `n x 4` in all, tells the arithmetic from the reading: a reading of 6.98 is a seven. It is not
    trained on, and in training it is the result itself.
    """
    result: Tensor = unit(readings)
    of_whole = result if unit.training else unit(readings.round())
    return torch.cat([result, readings, of_whole], -1)


class EvenCounter(nn.Module):
    """An image of several digits to logits of how many are even (Seguí et al. 2015; Trask et al. 2018, 4.6).

    Args:
        side: points of an image along each side.
        unit: the last layer, from `features` values to the logits.
        features: number of values before it.
    """

    def __init__(self, side: int, unit: nn.Module, features: int) -> None:
        super().__init__()
        after = ((side - 14) // 2 - 2) // 2
        self.layers = nn.Sequential(
            *(LargeConvolution(10, 15), nn.MaxPool2d(2), nn.ReLU()),
            *(nn.Conv2d(10, 10, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
            *(nn.Linear(10 * after**2, features), nn.ReLU()),
        )
        self.unit = unit

    def forward(self, images: Tensor) -> Tensor:
        """`n x side x side` to `n x classes`."""
        logits: Tensor = self.unit(self.layers(images[:, None]))
        return logits
