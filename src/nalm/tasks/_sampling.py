"""Tasks on ranges: inputs are drawn from distributions, which may differ between runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_choice
from nalm.tasks._base import Numbers, Split, Task
from nalm.tasks.distributions import ByInput
from nalm.tasks.known_ranges import RANGE_SETS, parse_pair
from nalm.tasks.ranges import Distribution

if TYPE_CHECKING:
    from nalm.models import ModelSpec

MOST_INPUTS = 10_000


def check_inputs(got: int, least: int) -> None:
    """Refuse a number of inputs that is not a whole number from `least` to `MOST_INPUTS`."""
    if isinstance(got, bool) or not isinstance(got, int) or not least <= got <= MOST_INPUTS:
        raise ArgumentError("inputs", f"a whole number from {least} to {MOST_INPUTS}", repr(got))


class RangeTask(Task):
    """A task on `inputs` inputs, drawn independently from a distribution for training and one for testing."""

    op: str
    inputs: int
    range: str
    ranges: ClassVar[tuple[str, ...]] = RANGE_SETS["uniform"]
    """The ranges of the papers on this task."""

    @classmethod
    def of(cls, op: str, range: str, inputs: int | None = None) -> Self:
        """The task for an operation, a range and a number of inputs (by default that of the task)."""
        given = {} if inputs is None else {"inputs": inputs}
        return cls(op=op, range=range, **given)  # type: ignore[call-arg]

    @classmethod
    def expand_ops(cls, names: Iterable[str]) -> list[str]:
        """The operations of these names; one that the task does not have is refused."""
        return [check_choice("op", name, cls.ops) for name in names]

    @classmethod
    def is_offered_to(cls, op: str, model: ModelSpec) -> bool:
        """Whether a benchmark trains a model on an operation: by default, if the model can express it."""
        return model.can(op)

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """The number of inputs."""
        return self.inputs

    @property
    def train_range(self) -> Distribution:
        """The distribution of training and validation data."""
        return parse_pair(self.range)[0]

    @property
    def test_range(self) -> Distribution:
        """The distribution of test data."""
        return parse_pair(self.range)[1]

    def range_of(self, split: str) -> Distribution:
        """The distribution of the data of a split."""
        return self.train_range if split in (Split.TRAIN, Split.VALIDATION) else self.test_range

    def shape(self) -> Hashable:
        """The number of inputs, the kind of distribution, and the numbers of gaps and turns."""
        train, test = parse_pair(self.range)
        return (type(self), self.inputs, train.kind, _turns(train, test), *_gaps(train, test))

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The distribution of the split."""
        train, test = parse_pair(self.range)
        drawn, turns = self.range_of(split), _turns(train, test)
        if turns > 1:  # validation and test share a program, so both have one distribution per input
            drawn = ByInput(tuple(drawn.of_input(k) for k in range(turns)))
        training, evaluation = _gaps(train, test)
        return drawn.numbers(training if split == Split.TRAIN else evaluation)

    def draw(self, u: Tensor, numbers: Numbers) -> Tensor:
        """Samples `models x inputs x n` from uniform numbers of that shape."""
        return self.train_range.draw(u, numbers)

    def identity(self) -> dict[str, Any]:
        """What determines the data, as plain data."""
        train, test = parse_pair(self.range)
        return {
            "name": self.name,
            "op": self.op,
            "inputs": self.inputs,
            "train": _written(train),
            "test": _written(test),
        }

    def labels(self) -> dict[str, str | int]:
        """Operation, number of inputs and range."""
        return {"op": self.op, "inputs": self.inputs, "range": self.range}

    def about(self) -> dict[str, Any]:
        """The task's part of a row of a benchmark."""
        segments = {"train_range": self.train_range.segments, "test_range": self.test_range.segments}
        return {**super().about(), "op": self.op, "inputs": self.inputs, "range": self.range, **segments}

    @classmethod
    @functools.cache
    def _restored(cls, op: str, range: str, inputs: int, others: tuple[tuple[str, Any], ...]) -> Self:
        return replace(cls.of(op, range, inputs), **dict(others))  # type: ignore[type-var]

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Self:
        """The task of a stored run, with its options besides operation, range and inputs."""
        known = {field.name for field in fields(cls)} - {"op", "range", "inputs"}  # type: ignore[arg-type]
        others = tuple((name, value) for name, value in sorted(identity.items()) if name in known)
        return cls._restored(labels["op"], labels["range"], labels["inputs"], others)


def _turns(train: Distribution, test: Distribution) -> int:
    """The number of distributions that inputs take in turn."""
    return max(len(d.parts) if isinstance(d, ByInput) else 1 for d in (train, test))


def _gaps(train: Distribution, test: Distribution) -> tuple[int, int]:
    """The number of gaps a program allows for, in training and in evaluation (one program for all splits)."""
    return train.gaps, max(1, train.gaps, test.gaps)


def _written(distribution: Distribution) -> list[Any]:
    """A distribution as plain data, with all digits."""
    parts = distribution.parts if isinstance(distribution, ByInput) else (distribution,)
    return [{"kind": part.kind, **asdict(part)} for part in parts]  # type: ignore[call-overload]


def factor_error(relevant: float, irrelevant: Sequence[Distribution], epsilon: float) -> float:
    """E[(1 - k)^2], where weights that are off by epsilon multiply a product by the factor k.

    Args:
        relevant: the logarithm of the relevant inputs' part of the factor.
        irrelevant: the distributions of the other inputs, each of which contributes 1 - epsilon |x|.
        epsilon: how far every weight is off.
    """
    # It is (1 - E[k])^2 + Var[k]. Both terms are computed from logarithms, because written out they are
    # differences of almost equal numbers.
    mean, growth = relevant, 0.0
    for drawn in irrelevant:
        absolute = drawn.mean_absolute()
        mean += math.log1p(-epsilon * absolute)
        spread = drawn.moment(2) - absolute**2
        growth += math.log1p(epsilon**2 * spread / (1 - epsilon * absolute) ** 2)
    return math.expm1(mean) ** 2 + math.exp(2 * mean) * math.expm1(growth)


def apply_operation(code: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """add, sub, mul or div, by each run's code 0 to 3: code `models`, a and b `models x n`."""
    which = code[:, None]
    return torch.where(
        which == 0, a + b, torch.where(which == 1, a - b, torch.where(which == 2, a * b, a / b))
    )
