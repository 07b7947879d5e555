"""The contract of a task: data with a known answer.

A task turns uniform numbers into inputs and targets, knows the weights that solve it, and knows how small
the error of a solution is. What differs between runs of one task, such as ranges and operations, are
numbers with one value per run; what does not is the task's shape, and runs of one shape share a program.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.recipes import Recipe

OPERATIONS = ("add", "sub", "mul", "div")


class Split(StrEnum):
    """Which data: fresh batches to train on, or one of the two fixed sets to evaluate on."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


Numbers = Mapping[str, Tensor]
"""What differs between runs, as tensors `models x ...`, and the constants they share."""


class Task:
    """Base of all tasks."""

    name: ClassVar[str]
    """Name on the command line."""
    ops: ClassVar[tuple[str, ...]] = ()
    """Operations that there are."""
    models: ClassVar[tuple[str, ...]] = ()
    """Models that the papers train on it, as they are written on the command line; empty: every unit."""
    stack_recipe: ClassVar[str] = "arithmetic"
    """The recipe of a stack whose last unit has it: that of the dataset that the papers train stacks on."""
    in_features: int
    out_features: int = 1
    dtype: torch.dtype | None = None
    """Precision of the data, or None if they are made in that of the model."""

    @property
    def draws(self) -> int:
        """Uniform numbers needed for one sample."""
        return self.in_features

    def shape(self) -> Hashable:
        """What runs must have in common to train in one program."""
        raise NotImplementedError

    def numbers(self, seed: int, split: Split) -> dict[str, Any]:
        """What belongs to one run on a split: a number, or nested lists of numbers, by name."""
        raise NotImplementedError

    def constants(self, split: Split) -> dict[str, Tensor]:
        """Tensors that all runs share on a split, by name."""
        return {}

    def samples(self, split: Split) -> int:
        """Size of the fixed set of a split."""
        return 10_000

    def block(self, split: Split) -> int:
        """How many samples to evaluate at once; divides `samples`."""
        return 400

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs `models x n x in` and targets `models x n x out`.

        Args:
            u: uniform numbers, shape `models x draws x n`.
            numbers: those of the split, as tensors `models x ...`, and its constants.
        """
        raise NotImplementedError

    def threshold(self, split: Split = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """Mean squared error below which the task counts as solved on this split; None if none is defined."""
        raise NotImplementedError

    def identity(self) -> dict[str, Any]:
        """What determines the data, as plain data without defaults: part of the name of a run."""
        raise NotImplementedError

    def labels(self) -> dict[str, str | int]:
        """What tells its rows apart in tables and plots."""
        raise NotImplementedError

    @classmethod
    def restore(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run, from its labels and its part of the run's name."""
        raise NotImplementedError

    def adapt(self, recipe: Recipe) -> Recipe:
        """The recipe of a unit as the papers use it on this task."""
        return recipe

    def ideal_(self, model: nn.Module, seed: int) -> None:
        """Set the weights that solve the task, in place."""
        raise NotImplementedError
