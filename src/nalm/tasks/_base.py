"""The contract of a task: anything that a model can be trained on.

A task turns uniform numbers into inputs and targets, either by computing them or by picking rows of a data
set. It says which network stands around the unit under test, which loss to train by and which errors to
report, how many sets there are to test on, and what tells its rows apart. Where they are known, it knows the
weights that solve it and how small the error of a solution is.

What differs between runs of one task, such as ranges and operations, are numbers with one value per run; what
does not is the task's shape, and runs of one shape share a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError
from nalm.recipes import Loss, Recipe, StepState
from nalm.tasks.measures import MeanSquaredError, Measure

OPERATIONS = ("add", "sub", "mul", "div")


class Split(StrEnum):
    """Which data: fresh batches to train on, or a fixed set to evaluate on.

    A task may have further sets to test on, which have names of their own (see `Task.tests`).
    """

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


Predict = Callable[[Tensor], Tensor]
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
    tests: tuple[str, ...] = (Split.TEST,)
    """Names of the sets to test on; the first decides."""
    measures: tuple[Measure, ...] = (MeanSquaredError(),)
    """The errors to report; the first decides: by it the best step is chosen, and thresholds are meant."""
    loss: Loss | None = None
    """What to train by; None leaves it to the recipe."""
    in_features: int
    out_features: int = 1
    dtype: torch.dtype | None = None
    """Precision of the data, or None if they are made in that of the model."""
    log_interval: int = 1000
    """Steps between two evaluations of a stored run."""

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.in_features,)

    @property
    def target_shape(self) -> tuple[int, ...]:
        """The shape of one target."""
        return (self.out_features,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of what the network gives for one input."""
        return self.target_shape

    @property
    def unit_features(self) -> tuple[int, int]:
        """Inputs and outputs of the unit under test; in a larger network they are not those of the task."""
        return self.in_features, self.out_features

    def network(self, unit: nn.Module) -> nn.Module:
        """The network to train, with the unit under test in its place; by default the unit alone."""
        return unit

    @property
    def splits(self) -> tuple[str, ...]:
        """All data: to train on, to choose by, to test on."""
        return (Split.TRAIN, Split.VALIDATION, *self.tests)

    @property
    def draws(self) -> int:
        """Uniform numbers needed for one sample."""
        return math.prod(self.input_shape)

    def draws_in(self, split: str) -> int:
        """Uniform numbers needed for one sample of a split; more where its sequences are longer."""
        return self.draws

    def shape(self) -> Hashable:
        """What runs must have in common to train in one program."""
        raise NotImplementedError

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """What belongs to one run on a split: a number, or nested lists of numbers, by name."""
        raise NotImplementedError

    def constants(self, split: str) -> dict[str, Tensor]:
        """Tensors that all runs share on a split, by name."""
        return {}

    def samples(self, split: str) -> int:
        """Size of the fixed set of a split."""
        return 10_000

    def block(self, split: str) -> int:
        """How many samples to evaluate at once; divides `samples`."""
        return 400

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs `models x n x *input_shape` and targets `models x n x *target_shape`.

        Args:
            u: uniform numbers, shape `models x draws x n`.
            numbers: those of the split, as tensors `models x ...`, and its constants. In evaluation also
                `block`, the number of the block of samples, `models`: rows of a data set are taken in order.
        """
        raise NotImplementedError

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """What training minimises on one batch, shape `models`; by default the loss of the predictions.

        A task with an environment acts in it here: it may call `predict` as often as an episode has steps.

        Args:
            predict: the models: inputs `models x n x ...` to outputs `models x n x ...`.
            u: uniform numbers, shape `models x draws x n`.
            numbers: see `batch`.
            loss: the loss of the task or of the recipe.
            now: the step, and the last validation error.
        """
        x, y = self.batch(u, numbers)
        return loss(predict(x), y, now)

    def totals(self, predict: Predict, u: Tensor, numbers: Numbers) -> list[Tensor]:
        """For each of `measures` its sum over one block of samples, shape `models`."""
        x, y = self.batch(u, numbers)
        prediction = predict(x)
        return [measure.total(prediction, y) for measure in self.measures]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """The decisive error below which the task counts as solved on this split; None if none is known."""
        return None

    def identity(self) -> dict[str, Any]:
        """What determines the data, as plain data without defaults: part of the name of a run."""
        raise NotImplementedError

    def labels(self) -> dict[str, str | int]:
        """What tells its rows apart in tables and plots."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """Its first label: what it is called in a sentence."""
        return str(next(iter(self.labels().values())))

    def about(self) -> dict[str, Any]:
        """The task's part of a row of a benchmark; null where it has no use for a key."""
        ranges = {"range": None, "train_range": None, "test_range": None}
        return {"labels": self.labels(), "op": None, "inputs": self.in_features, **ranges}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run, from its labels and its part of the run's name."""
        raise NotImplementedError

    @classmethod
    def variants(cls) -> list[Task]:
        """What a benchmark of this task trains on, one row each: every variant that the papers have."""
        raise ArgumentError("task", "one that a benchmark can make by its name", repr(cls.name))

    def adapt(self, recipe: Recipe) -> Recipe:
        """The recipe of a unit as the papers use it on this task."""
        return recipe

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place."""
        raise ArgumentError("task", "one whose solution is known", self.name)
