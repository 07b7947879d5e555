"""The errors that a task reports, of which the first is decisive.

Every measure is a sum over samples; its value on a data set is that sum divided by the number of terms.
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

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its value: () for a number; the first measure of a task must be a number."""
        return ()

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models x *shape`."""
        raise NotImplementedError

    def per_sample(self, target_shape: Sequence[int]) -> int:
        """The number of terms per sample."""
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
    """The highest possible minus the actual sum of rewards, the mean over episodes."""

    name: str = "shortfall"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all episodes, shape `models`."""
        return (target - prediction).flatten(1).sum(-1)


@dataclass(frozen=True)
class WrongNumber(Measure):
    """The share of samples with an output that, rounded to a whole number, differs from the target."""

    name: str = "wrong_number"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of wrong samples, shape `models`."""
        wrong = (prediction.round() != target).flatten(2).any(-1)
        return wrong.to(prediction.dtype).sum(-1)


@dataclass(frozen=True)
class MeanCrossEntropy(Measure):
    """-log softmax(prediction) at the target's class, the mean over samples."""

    name: str = "cross_entropy"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The sum over all samples, shape `models`."""
        return -(prediction.log_softmax(-1) * target).sum((-2, -1))


@dataclass(frozen=True)
class WrongClass(Measure):
    """The share of samples whose largest output is not at the target's largest: `1 - accuracy`."""

    name: str = "wrong_class"

    def total(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The number of wrong samples, shape `models`."""
        return (prediction.argmax(-1) != target.argmax(-1)).to(prediction.dtype).sum(-1)
