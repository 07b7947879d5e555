"""The experiments of the iNALU's authors as runs, each of one operation, distribution and seed.

The four operations of a distribution and seed share their inputs and are always trained together. Datasets
train side by side in one compiled program, where a model's numbers are the same regardless of the others.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.papers.schloer2020.programs.layers import KINDS
from nalm.papers.schloer2020.programs.tasks import (
    FUNCTIONS,
    INITIALISATION,
    MAGNITUDE,
    MINIMAL,
    SIMPLE_ARITHMETIC,
    SIMPLE_FUNCTION,
    FourOperations,
)
from nalm.papers.schloer2020.programs.training import (
    BEST,
    RMSPROP,
    EpochPlan,
    Optimiser,
    Start,
    errors,
    train,
)
from nalm.papers.shared.own_trainer import Ended, OwnOptimiser, last_step
from nalm.recipes import Recipe
from nalm.streams import Purpose
from nalm.tasks import Task
from nalm.trained import Options, RunGroup, StepsDone, Trained
from nalm.training.trainers import Trainer

EXPERIMENTS = {
    "minimal": MINIMAL,
    "magnitude": MAGNITUDE,
    "simple arithmetic": SIMPLE_ARITHMETIC,
    "initialisation": INITIALISATION,
    "simple function": SIMPLE_FUNCTION,
}
_BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class OneOperation(Task):
    """An operation on inputs of a distribution.

    Args:
        experiment: the name of the experiment, one of `EXPERIMENTS`.
        op: the operation.
        place: the index of the distribution, which its random numbers depend on.
    """

    experiment: str
    op: str
    place: int

    name = "schloer2020"

    @property
    def four(self) -> FourOperations:
        """All operations of the experiment."""
        return EXPERIMENTS[self.experiment]

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """The number of inputs."""
        return self.four.sizes[0]

    def shape(self) -> Hashable:
        """The experiment: all its operations and distributions train side by side."""
        return (type(self), self.experiment)

    def identity(self) -> dict[str, Any]:
        """Operation and distribution."""
        drawn = self.four.distributions[self.place]
        return {
            "name": self.name,
            "inputs": self.in_features,
            "outputs": 1,
            "op": self.op,
            "place": self.place,
            "family": drawn.family,
            "train": list(drawn.train),
            "test": list(drawn.test),
        }

    def labels(self) -> dict[str, str | int]:
        """Operation and distribution."""
        return {"op": self.op, "inputs": self.in_features, "distribution": self.distribution}

    @property
    def distribution(self) -> str:
        """The distribution as the authors' tables write it."""
        return self.four.distributions[self.place].label


class Layers(nn.Module):
    """Layers of a kind as a module.

    Args:
        kind: the name of the kind.
        sizes: sizes of the layers, the number of inputs first.
    """

    def __init__(self, kind: str, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.kind, self.sizes = _BY_NAME[kind], sizes
        for name, shape in self.kind.shapes(sizes).items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))

    def forward(self, x: Tensor) -> Tensor:
        """`n x in` to `n x out`."""
        variables = {name: p[None, None] for name, p in self.named_parameters()}
        return self.kind.forward(variables, x.mT[None, None])[0, 0].mT


@dataclass(frozen=True)
class InTurns(OwnOptimiser):
    """The authors' training: weights and gates in turns, with penalties and reinitialisations in between.

    Args:
        learning_rate: the learning rate.
        samples: number of samples in each set.
        rule: the optimiser, "RMSProp" or "Adam".
        initial: what the variables are drawn from.
    """

    learning_rate: float = field(default=RMSPROP.rate, metadata={"shape": True})
    samples: int = field(default=EpochPlan().samples, metadata={"shape": True})
    rule: str = field(default=RMSPROP.rule, metadata={"shape": True})
    initial: Start = BEST

    trainer: ClassVar[str] = "nalm.papers.schloer2020.programs.runs:Epochs"
    work: ClassVar[int] = EpochPlan().steps


class Epochs(Trainer):
    """Trains all operations of the datasets that the runs need, from all starts; a step is an epoch."""

    name, chunk = InTurns.trainer, len(MINIMAL.distributions) * len(FUNCTIONS) * 10
    SECONDS_PER_BATCH: ClassVar[float] = 1e-6
    """Seconds per batch of a run with two inputs."""

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train the runs, and with them the other models of their datasets."""
        began, model = time.perf_counter(), runs.model
        assert isinstance(model, Layers)
        four, plan, optimiser = _parts(runs, options)
        datasets, at = _places(runs, four)

        def on_epoch(epoch: int, epochs: int) -> None:
            if options.on_progress is not None:
                passed = time.perf_counter() - began
                options.on_progress(StepsDone(epoch * len(runs), epochs * len(runs), passed))

        with torch.inference_mode(False), torch.enable_grad():
            variables = train(
                model.kind,
                four.sizes,
                four.data(Purpose.DATA, datasets, plan),
                plan,
                optimiser,
                four.starts,
                compiled=options.compiled,
                on_progress=on_epoch,
            )
        validation, test = (
            errors(model.kind, variables, four.data(purpose, datasets, plan))[at]
            for purpose in (Purpose.VALIDATION, Purpose.TEST)
        )
        parameters = {name: variables[name][at] for name in variables}
        found = Ended(parameters, validation, test, compiled=options.compiled)
        return last_step(runs, options, found, time.perf_counter() - began)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how long these runs take on one core, without compiling."""
        return runs * recipe.work * max(1, inputs / 2) * self.SECONDS_PER_BATCH


def _places(
    runs: RunGroup, four: FourOperations
) -> tuple[list[tuple[int, int]], tuple[list[int], list[int]]]:
    """The datasets that the runs need, and where each run is among datasets, and among starts and tasks."""
    wanted = []
    for task, seed, recipe in zip(runs.tasks, runs.seeds, runs.recipes):
        assert isinstance(task, OneOperation)
        assert isinstance(recipe.optimiser, InTurns)
        start = four.starts.index(recipe.optimiser.initial)
        wanted.append(((task.place, seed), start * len(FUNCTIONS) + list(FUNCTIONS).index(task.op)))
    datasets = list(dict.fromkeys(dataset for dataset, _ in wanted))
    return datasets, ([datasets.index(dataset) for dataset, _ in wanted], [model for _, model in wanted])


def _parts(runs: RunGroup, options: Options) -> tuple[FourOperations, EpochPlan, Optimiser]:
    """The experiment, how long to train, and by which optimiser."""
    task, optimiser = runs.tasks[0], runs.recipes[0].optimiser
    assert isinstance(task, OneOperation)
    assert isinstance(optimiser, InTurns)
    plan = EpochPlan(options.iterations, optimiser.samples)
    return task.four, plan, Optimiser(optimiser.rule, optimiser.learning_rate)


def case(
    kind: str,
    task: OneOperation,
    epochs: int,
    samples: int = EpochPlan().samples,
    optimiser: Optimiser = RMSPROP,
    start: Start = BEST,
) -> Case:
    """A kind of layer on a task."""
    sizes = task.four.sizes
    written = ("sizes", "-".join(map(str, sizes)))
    model = GivenModel(f"schloer2020:{kind}", partial(_layers, kind, sizes), options=(written,))
    recipe = Recipe(
        optimiser=InTurns(optimiser.rate, samples, optimiser.rule, start),
        clamps=(),
        batch_size=EpochPlan().batch,
        iterations=epochs,
    )
    return Case(model, task, other_recipe=recipe)


def _layers(kind: str, sizes: tuple[int, ...], inputs: int, outputs: int) -> Layers:
    return Layers(kind, sizes)
