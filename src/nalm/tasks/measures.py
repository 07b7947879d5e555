"""Named errors of a task: what is reported of predictions, of which the first decides.

Every measure adds something up over samples; its value on a data set is that sum, divided by how many things
were added up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Measure:
    """Base of all measures. Predictions and targets are `models x n x ...`."""

    name: str

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        raise NotImplementedError

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """How many things are added up per sample."""
        return 1


@dataclass(frozen=True)
class MeanSquaredError(Measure):
    """(prediction - target)^2, the mean over samples and outputs."""

    name: str = "mse"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        squares = (prediction - target).square()
        return squares.sum(tuple(range(1, squares.dim())))

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of outputs."""
        return math.prod(target_shape)


@dataclass(frozen=True)
class MeanAbsoluteError(Measure):
    """|prediction - target|, the mean over samples and outputs."""

    name: str = "mae"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        return (prediction - target).abs().flatten(1).sum(-1)

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of outputs."""
        return math.prod(target_shape)


@dataclass(frozen=True)
class Shortfall(Measure):
    """How much less than the best sum of rewards an episode has, the mean over episodes."""

    name: str = "shortfall"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all episodes, shape `models`."""
        return (target - prediction).flatten(1).sum(-1)


@dataclass(frozen=True)
class WrongNumber(Measure):
    """The share of samples of which an output, rounded to a whole number, is not the target."""

    name: str = "wrong_number"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of wrong samples, shape `models`."""
        wrong = (prediction.round() != target).flatten(2).any(-1)
        return wrong.to(prediction.dtype).sum(-1)


@dataclass(frozen=True)
class WrongClass(Measure):
    """The share of samples of which the largest output is not that of the target: `1 - accuracy`."""

    name: str = "wrong_class"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of wrong samples, shape `models`."""
        return (prediction.argmax(-1) != target.argmax(-1)).to(prediction.dtype).sum(-1)
