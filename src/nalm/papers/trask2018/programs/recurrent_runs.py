"""The recurrent models of Trask et al. 2018 as runs: their tasks, their trainer, and their stored errors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch

from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel
from nalm.papers.shared.own_trainer import BlockTrainer, Ended, OnStep, OwnOptimiser
from nalm.papers.trask2018.programs import recurrent
from nalm.papers.trask2018.programs.recurrent import BATCH, INPUTS, RATE, SEEDS, SHORT, SIZE, TARGETS
from nalm.papers.trask2018.programs.recurrent_cells import RecurrentKind, RecurrentNetwork
from nalm.recipes import Recipe
from nalm.tasks import Task
from nalm.trained import Options, RunGroup

TRAINING = "train/mean squared error"
"""The name under which the training error is stored."""


@dataclass(frozen=True)
class SumsOverTime(Task):
    """A function of two sums over time.

    Args:
        target: one of `TARGETS`.
    """

    target: str

    name = "trask2018-recurrent"
    in_features = INPUTS

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A sequence."""
        return SHORT, INPUTS

    def shape(self) -> Hashable:
        """The same for all functions: they are learnt side by side."""
        return (type(self),)

    def identity(self) -> dict[str, Any]:
        """The function, and how it is tested."""
        tested = {"samples": recurrent.SAMPLES, "length": recurrent.LONG}
        return {"name": self.name, "inputs": INPUTS, "outputs": 1, "target": self.target, **tested}

    def labels(self) -> dict[str, str | int]:
        """The function."""
        return {"target": self.target}


@dataclass(frozen=True)
class SideBySide(OwnOptimiser):
    """Adam with clipped gradients on all targets and ten seeds at once."""

    learning_rate: float = RATE

    trainer: ClassVar[str] = "nalm.papers.trask2018.programs.recurrent_runs:AllTargets"


class AllTargets(BlockTrainer):
    """Models of one kind on all targets, ten seeds at a time."""

    name, chunk, block = SideBySide.trainer, SEEDS * len(TARGETS), SEEDS
    SECONDS_PER_STEP = 5e-5

    def train_block(self, runs: RunGroup, seeds: range, options: Options, on_step: OnStep) -> Ended:
        """One model per target and seed."""
        kind: RecurrentKind = runs.model.kind  # type: ignore[assignment]
        (rate,) = {recipe.optimiser.learning_rate for recipe in runs.recipes}
        parameters, loss = recurrent.train(kind, seeds, options.iterations, on_step, rate)
        short, long = recurrent.test_errors(kind, parameters, seeds)
        return Ended(parameters, short, long, {TRAINING: loss})

    def place(self, task: Task, seed: int) -> int:
        """Targets first, as in `Lanes`."""
        assert isinstance(task, SumsOverTime)
        return list(TARGETS).index(task.target) * SEEDS + seed


def case(kind: str, target: str, steps: int) -> Case:
    """A kind of model on a target, trained for `steps` steps."""
    model = GivenModel(f"trask2018-recurrent:{kind}", partial(_network, kind))
    recipe = Recipe(optimiser=SideBySide(), clamps=(), batch_size=BATCH, iterations=steps)
    return Case(model, SumsOverTime(target), other_recipe=recipe)


def _network(kind: str, inputs: int, outputs: int) -> RecurrentNetwork:
    return RecurrentNetwork(kind, SIZE, inputs)


def trained_errors(records: Sequence[Sequence[Record]]) -> recurrent.Errors:
    """The errors of stored runs, by target and seed."""
    reads: tuple[Callable[[Record], float], ...] = (
        lambda record: record.errors[TRAINING][-1],
        lambda record: record.validation[-1],
        lambda record: record.test[-1],
    )
    each = ([[float(read(record)) for record in runs] for runs in records] for read in reads)
    return recurrent.Errors(
        *(recurrent.finite(torch.tensor(errors, dtype=torch.float64)).numpy() for errors in each)
    )
