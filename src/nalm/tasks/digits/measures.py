"""Errors of networks that read digits; outputs have the results first, then one reading per digit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.tasks.measures import Measure

CLASSES = 10


@dataclass(frozen=True)
class SequenceError(Measure):
    """Mean squared error of the results after every digit up to `length`, or after that digit alone."""

    name: str = "mse"
    length: int = 1
    results: int = 1
    every: bool = True

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        first = 0 if self.every else self.length - 1
        error = _error(prediction, target, self.results)[:, :, first : self.length]
        return error.square().flatten(1).sum(-1)

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of results that count."""
        return self.results * (self.length if self.every else 1)


@dataclass(frozen=True)
class ErrorByLength(Measure):
    """Mean of |prediction - target| ** power after the last digit, for sequences of each length."""

    name: str = "mse_by_length"
    lengths: tuple[int, ...] = (1,)
    power: int = 2
    results: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """One value per length."""
        return (len(self.lengths),)

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models x lengths`; a prefix of a sequence is a sequence."""
        at = [length - 1 for length in self.lengths]
        error = _error(prediction, target, self.results)[:, :, at]
        return error.abs().pow(self.power).sum((1, -1))

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of results."""
        return self.results


@dataclass(frozen=True)
class PairError(Measure):
    """Mean squared error of the result of two digits."""

    name: str = "mse"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        return _error(prediction, target, 1)[..., 0].square().sum(-1)


@dataclass(frozen=True)
class ReadDigits(Measure):
    """How often a digit was read as which: joint frequencies, true digit x reading rounded to 0 … 9.

    The sum is 1, the trace the accuracy. With `positions`, one such table for each digit of a sample.
    """

    name: str = "digits"
    results: int = 1
    positions: int | None = None
    """The number of digits of a sample, which stand right after the results; None if they are all others."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Ten by ten, for each position."""
        return (CLASSES, CLASSES) if self.positions is None else (self.positions, CLASSES, CLASSES)

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The counts over all samples, shape `models x *shape`."""
        last = None if self.positions is None else self.results + self.positions
        read, true = (each[..., self.results : last] for each in (prediction, target))
        place = true.round().long() * CLASSES + read.nan_to_num().round().clamp(0, CLASSES - 1).long()
        return counted(place, self.positions)

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of digits, in one table."""
        return 1 if self.positions else math.prod(target_shape[:-1]) * (target_shape[-1] - self.results)


@dataclass(frozen=True)
class CountedDigits(Measure):
    """Which digit a network that counts has seen in a series of length 1, as joint frequencies.

    With one result the digit is the rounded result, otherwise the place of the largest result.
    """

    name: str = "digits"
    results: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Ten by ten."""
        return (CLASSES, CLASSES)

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The counts over all samples, shape `models x 10 x 10`."""
        read, true = (self._digit(each[:, :, 0]) for each in (prediction, target))
        return counted((true * CLASSES + read)[..., None], None)

    def _digit(self, results: Tensor) -> Tensor:
        if self.results > 1:
            return results.argmax(-1)
        return results[..., 0].nan_to_num().round().clamp(0, CLASSES - 1).long()


@dataclass(frozen=True)
class WrongResult(Measure):
    """The share of samples whose result differs from the target, both rounded to `decimals`.

    None compares them as they are: the result must be the same floating-point number. With `whole`, the
    result of readings that are rounded to whole digits is taken, which is the last output.
    """

    name: str = "wrong"
    decimals: int | None = None
    whole: bool = False

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of wrong samples, shape `models`."""
        held = [each[..., -1 if self.whole else 0] for each in (prediction, target)]
        ours, theirs = held if self.decimals is None else map(self._rounded, held)
        return (ours != theirs).double().sum(-1)

    def _rounded(self, values: Tensor) -> Tensor:
        return values.double().round(decimals=self.decimals or 0)


PAIR_MEASURES: tuple[Measure, ...] = (
    PairError(),
    WrongResult(),
    WrongResult("wrong_5dp", decimals=5),
    WrongResult("wrong_rounded", decimals=0),
    WrongResult("wrong_whole", decimals=5, whole=True),
    ReadDigits(positions=2),
)
"""Of two digits: the error that is trained on, four ways to count wrong results, and what was read."""


def counted(place: Tensor, positions: int | None) -> Tensor:
    """How often each of a hundred places occurs, `models x [positions x] 10 x 10`."""
    tables = []
    for own in place:
        parts = [own.flatten()] if positions is None else list(own.flatten(0, -2).unbind(-1))
        found = [torch.bincount(part, minlength=CLASSES**2).view(CLASSES, CLASSES) for part in parts]
        tables.append(found[0] if positions is None else torch.stack(found))
    return torch.stack(tables).double()


def _error(prediction: Tensor, target: Tensor, results: int) -> Tensor:
    """In float64, because squares of products of twenty digits do not fit into float32."""
    return prediction[..., :results].double() - target[..., :results].double()
