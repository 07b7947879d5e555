"""The contract of a task: anything that a model can be trained on.

A task turns uniform numbers into inputs and targets, either by computing them or by picking rows of a data
set. It defines the network around the unit under test, the loss to train by, the errors to report, the sets
to test on, and the labels that distinguish its variants. If they are known, it also has the weights that
solve it and the error below which it counts as solved.

What differs between runs of one task, such as ranges and operations, is given by numbers, one value per run;
what all runs have in common is the task's shape. Runs of one shape share a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Facet:
    """One row of the results of a model on a task, such as one length of sequences.

    Attributes:
        labels: what distinguishes it from the other rows.
        curve: the error by which its runs are judged, `split/name` as stored.
        index: which element of that error; None if it is a number.
        below: the error below which a run succeeds; None if the runs of the task's reference set it.
    """

    labels: Mapping[str, str | int]
    curve: str
    index: int | None = None
    below: float | None = None


Predict = Callable[[Any], Tensor]
Numbers = Mapping[str, Tensor]
"""What differs between runs, as tensors `models x ...`, and the constants they share."""


class Task:
    """Base of all tasks."""

    name: ClassVar[str]
    """Name on the command line."""
    ops: ClassVar[tuple[str, ...]] = ()
    """All operations of the task."""
    models: ClassVar[tuple[str, ...]] = ()
    """Models that the papers train on it, as they are written on the command line; if empty, every unit."""
    stack_recipe: ClassVar[str] = "arithmetic"
    """The recipe of a stack, if its last unit has it: by default that of the papers' dataset for stacks."""
    tests: tuple[str, ...] = (Split.TEST,)
    """Names of the test sets; thresholds apply to the first."""
    measures: tuple[Measure, ...] = (MeanSquaredError(),)
    """The errors to report; the first is decisive: it is used to choose the best step and for thresholds."""
    loss: Loss | None = None
    """The loss to train by; None for that of the recipe."""
    in_features: int
    out_features: int = 1
    dtype: torch.dtype | None = None
    """Precision of the data; None if they are made in the precision of the model."""
    has_formulas: ClassVar[bool] = False
    """Whether rows of a benchmark say which formulas the runs have found."""
    has_equations: ClassVar[bool] = False
    """Whether models are equations, so that a report shows errors against the number of parameters."""
    log_interval: int = 1000
    """Steps between two evaluations of a stored run."""
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 5, "paper": 25}
    """The number of seeds at each scale of a benchmark."""
    images_per_step: ClassVar[int | None] = None
    """Images of a batch of training, for progress; None if the task has none."""
    compiles_tests: ClassVar[bool] = True
    """Whether evaluating is worth compiling: not with few samples, a large network and sets of many sizes."""
    seconds_per_step: float | None = None
    """Roughly how long a step of one run takes on one core, for estimates; None if the trainer knows it."""
    has_sequences: ClassVar[bool] = False
    """Whether the unit is a recurrent cell, which a recurrent network may replace."""
    reference: str | None = None
    """A model whose arithmetic is solved: its runs set the error below which others succeed."""

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
        """The shape of the network's output for one input."""
        return self.target_shape

    @property
    def unit_features(self) -> tuple[int, int]:
        """Inputs and outputs of the unit under test; inside a larger network they differ from the task's."""
        return self.in_features, self.out_features

    def network(self, unit: nn.Module) -> nn.Module:
        """The network to train, which contains the unit under test; by default the unit alone."""
        return unit

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of all splits: training, validation and the test sets."""
        return (Split.TRAIN, Split.VALIDATION, *self.tests)

    @property
    def draws(self) -> int:
        """Uniform numbers needed for one sample."""
        return math.prod(self.input_shape)

    def draws_in(self, split: str) -> int:
        """Uniform numbers needed for one sample of a split, which may have longer sequences than others."""
        return self.draws

    def shape(self) -> Hashable:
        """What runs must have in common to train in one program."""
        raise NotImplementedError

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """What is specific to one run on a split, by name: numbers, or nested lists of numbers."""
        raise NotImplementedError

    def constants(self, split: str) -> dict[str, Tensor]:
        """Tensors that all runs share on a split, by name."""
        return {}

    def samples(self, split: str) -> int:
        """Size of the fixed set of a split."""
        return 10_000

    def block(self, split: str) -> int:
        """The number of samples to evaluate at once; it divides `samples`."""
        return 400

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Inputs `models x n x *input_shape` and targets `models x n x *target_shape`.

        A task whose network takes several inputs returns a tuple of them, each with the axis of models.

        Args:
            u: uniform numbers, shape `models x draws x n`.
            numbers: the numbers of the split, as tensors `models x ...`, and its constants. In evaluation
                also `block`, the index of the block of samples, `models`, to read data sets in order.
        """
        raise NotImplementedError

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """What training minimises on one batch, shape `models`; by default the loss of the predictions.

        A task with an environment acts in it here: it may call `predict` at each step of an episode.

        Args:
            predict: applies the models: inputs `models x n x ...` to outputs `models x n x ...`.
            u: uniform numbers, shape `models x draws x n`.
            numbers: see `batch`.
            loss: the loss of the task or of the recipe.
            now: the step, and the last validation error.
        """
        x, y = self.batch(u, numbers)
        return loss(predict(x), y, now)

    def totals(self, predict: Predict, u: Tensor, numbers: Numbers) -> list[Tensor]:
        """For each of `measures`, its sum over one block of samples, shape `models`."""
        x, y = self.batch(u, numbers)
        prediction = predict(x)
        return [measure.total(prediction, y) for measure in self.measures]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """The decisive error below which the task counts as solved on this split; None if none is known."""
        return None

    def epoch(self) -> int | None:
        """Steps of an epoch; None for a task whose data are drawn afresh."""
        return None

    def prepare(self) -> None:
        """Find the data that training will need, before any work; a fault is an error in a sentence."""

    def facets(self) -> tuple[Facet, ...]:
        """The rows of results of one model; none if the decisive error alone is reported."""
        return ()

    def reduced(self) -> Task:
        """The task with the reduced protocol of `--scale quick`; itself, if only the seeds are fewer."""
        return self

    def identity(self) -> dict[str, Any]:
        """What determines the data, as plain data without defaults; a run's name depends on it."""
        raise NotImplementedError

    def labels(self) -> dict[str, str | int]:
        """What distinguishes this variant of the task in tables and plots."""
        raise NotImplementedError

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs in formulas: those of a table's columns, or x1, x2, …."""
        return list(self.identity().get("columns") or (f"x{k + 1}" for k in range(self.in_features)))

    def is_solution(self, expression: Any) -> bool:
        """Whether a sympy expression in `input_names` is what the task computes, if it `has_formulas`."""
        raise NotImplementedError

    @property
    def recipe_op(self) -> str | None:
        """The operation whose recipe a unit is asked for; None for any that the unit has."""
        return getattr(self, "op", None)  # a table has none

    @property
    def title(self) -> str:
        """Its name in a sentence: its first label."""
        return str(next(iter(self.labels().values())))

    def about(self) -> dict[str, Any]:
        """The task's part of a row of a benchmark; None for keys that do not apply."""
        ranges = {"range": None, "train_range": None, "test_range": None}
        return {"labels": self.labels(), "op": None, "inputs": self.in_features, **ranges}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run, from its labels and its identity."""
        raise NotImplementedError

    @classmethod
    def variants(cls) -> list[Task]:
        """The variants of the task that a benchmark trains on: all that the papers have."""
        raise ArgumentError("task", "one that can be made from its name alone", repr(cls.name))

    def adapt(self, recipe: Recipe) -> Recipe:
        """A unit's recipe as the papers use it on this task."""
        return recipe

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place."""
        raise ArgumentError("task", "one whose solution is known", self.name)
