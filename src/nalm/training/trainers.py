"""Trainers carry out recipes. All take the same `RunGroup` and `Options` and return a `Trained`.

A recipe names its trainer: the engine trains many models side by side in compiled programs, "eager" does so
without compiling, the second-order trainer solves one after the other, the loop trains large networks one
after the other with checkpoints. A name with a colon, such as `package.module:Class`, is a trainer of another
package. Callers get the trainer from `trainer_of`, and need not know which it is.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn

from nalm.engine import many_runs as engine
from nalm.engine.loop import train_one_by_one
from nalm.errors import ArgumentError, check_positive, unknown
from nalm.models.many import Parameters
from nalm.models.one import OneModel
from nalm.recipes import Recipe
from nalm.recipes.numbers import split
from nalm.streams import check_seed
from nalm.tasks import Split, Task
from nalm.trained import OnLogged, OnSteps, Options, RunGroup, Trained
from nalm.training.result import TrainResult


class Trainer:
    """Base of all trainers."""

    name: ClassVar[str]
    """The name in `Recipe.trainer`."""
    precision: ClassVar[torch.dtype] = torch.float32
    """The precision of stored runs whose task sets none."""
    chunk: ClassVar[int]
    """The most runs to compute together; an interruption loses all of them."""
    programs: ClassVar[tuple[str, ...]] = ()
    """The programs that can be compiled before they are used."""

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model or a task that this trainer cannot train."""

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train one copy of the model per seed, each with its own task and recipe."""
        raise NotImplementedError

    def evaluate(self, runs: RunGroup, *, compiled: bool = True) -> dict[Split, torch.Tensor]:
        """The errors of the initial parameters on the fixed sets of each run, by split."""
        assert runs.initial is not None
        wide = {name: p.to(self.precision_of(runs.tasks[0])) for name, p in runs.initial.items()}
        return engine.evaluate_runs(replace(runs, initial=wide), compiled=compiled and bool(self.programs))

    def prepare(self, model: nn.Module, task: Task, recipe: Recipe, program: str) -> None:
        """Compile one of its programs into the cache, where other processes find it."""

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core, without compilation."""
        raise NotImplementedError

    def precision_of(self, task: Task) -> torch.dtype:
        """The precision of stored runs of a task: that of its data, or else the trainer's."""
        return task.dtype or self.precision


class Engine(Trainer):
    """Trains many models of one architecture side by side, in compiled programs."""

    name, chunk = "engine", 1000
    programs: ClassVar[tuple[str, ...]] = ("train", "evaluate")
    SECONDS_PER_STEP: ClassVar[float] = 1e-6
    """For one run with two inputs."""

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train one copy of the model per seed, each with its own task and recipe."""
        return engine.train_side_by_side(runs, options)

    def prepare(self, model: nn.Module, task: Task, recipe: Recipe, program: str) -> None:
        """Compile one of its programs into the cache, where other processes find it."""
        engine.compile_program(model, task, recipe, evaluate=program == "evaluate")

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core, without compilation."""
        return runs * recipe.iterations * max(1, inputs / 8) * self.SECONDS_PER_STEP


class Eager(Engine):
    """Trains many models side by side without compiling: for networks of very many small steps in a row.

    Written out for a compiler, a recurrence over a thousand elements would take longer to compile than to
    run.
    """

    name, chunk = "eager", 200
    programs: ClassVar[tuple[str, ...]] = ()
    SECONDS_PER_STEP: ClassVar[float] = 5e-4
    """For one of forty runs of a recurrence over ten elements."""

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train one copy of the model per seed, each with its own task and recipe."""
        return engine.train_side_by_side(runs, replace(options, compiled=False))

    def prepare(self, model: nn.Module, task: Task, recipe: Recipe, program: str) -> None:
        """Nothing: there are no programs."""


class Loop(Trainer):
    """Trains one network after the other, eagerly, with checkpoints."""

    name, chunk = "loop", 1
    SECONDS_PER_STEP: ClassVar[float] = 1e-2
    """For a small convolutional network."""

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a network that does not fit the inputs and outputs of the task."""
        OneModel(model, torch.float32, torch.device("cpu")).check_fit(task.input_shape, task.output_shape)

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train one copy of the network per seed, each with its own task and recipe."""
        return train_one_by_one(runs, options)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core."""
        return runs * recipe.iterations * self.SECONDS_PER_STEP


class SecondOrder(Trainer):
    """Solves one run after the other by Levenberg-Marquardt, always in float64 on the CPU."""

    name, precision, chunk = "second-order", torch.float64, 10
    SECONDS_PER_INPUT: ClassVar[float] = 0.02

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model that is too large, and a task that cannot draw any number of rows."""
        from nalm.second_order.checks import check_model, check_task

        check_model(model)
        check_task(task)

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Solve one copy of the model per seed, each with its own task and recipe."""
        # Only here: its statistics take as long to import as torch, and most commands train nothing by it.
        from nalm.second_order.runs import solve_runs

        return solve_runs(runs, options)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core."""
        return runs * inputs * self.SECONDS_PER_INPUT


class Compose(Trainer):
    """Searches the expression of one run after the other, always in float64 on the CPU."""

    name, precision, chunk = "compose", torch.float64, 10
    SECONDS_PER_RUN: ClassVar[float] = 1.0

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model that is no composer, and a task without rows of numbers."""
        from nalm.discover.runs import check_composer

        check_composer(model, task)

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Search the expression of each run."""
        from nalm.discover.runs import compose_runs  # only here, as with second order

        return compose_runs(runs, options)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core."""
        return runs * self.SECONDS_PER_RUN


class DynamicsSearch(Trainer):
    """Finds the differential equations of one run after the other, always in float64 on the CPU."""

    name, precision, chunk = "dynamics", torch.float64, 5
    SECONDS_PER_RUN: ClassVar[float] = 5.0

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model that is not made of powers and sums, and a task without states over time."""
        from nalm.discover.dynamics_runs import check_dynamics

        check_dynamics(model, task)

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Find the equations of each run."""
        from nalm.discover.dynamics_runs import dynamics_runs  # only here, as with second order

        return dynamics_runs(runs, options)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how many seconds these runs take on one core."""
        return runs * self.SECONDS_PER_RUN


TRAINERS: dict[str, Trainer] = {
    trainer.name: trainer
    for trainer in (Engine(), Eager(), Loop(), SecondOrder(), Compose(), DynamicsSearch())
}


def trainer_of(recipe: Recipe) -> Trainer:
    """The trainer that carries out a recipe."""
    return _trainer(recipe.trainer)


@functools.cache
def _trainer(name: str) -> Trainer:
    if name in TRAINERS:
        return TRAINERS[name]
    module, colon, kind = name.partition(":")
    if not colon:
        raise unknown("by", name, TRAINERS)
    try:
        made: Trainer = getattr(importlib.import_module(module), kind)()
    except (ImportError, AttributeError) as error:
        expected = "the class of a trainer, such as package.module:Class"
        raise ArgumentError("by", expected, f"{name!r} ({error})") from error
    return made


def train_runs(
    model: nn.Module,
    tasks: Sequence[Task],
    recipes: Sequence[Recipe],
    seeds: Sequence[int],
    *,
    iterations: int | None = None,
    log_interval: int = 1000,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    compiled: bool = True,
    initial: Parameters | None = None,
    names: Sequence[str] = (),
    on_progress: OnSteps | None = None,
    on_logged: OnLogged | None = None,
    checkpoints: Path | None = None,
) -> TrainResult:
    """Train one copy of the model per seed, each with its own task and recipe, by the recipe's trainer.

    Args:
        model: the architecture.
        tasks: one per run, all of the same shape.
        recipes: one per run, all of the same shape.
        seeds: one per run.
        iterations: the number of steps; by default that of the recipe.
        log_interval: steps between evaluations.
        dtype: the precision, float32 or float64.
        device: where to train.
        compiled: compile the step, or run it eagerly.
        initial: parameters `runs x ...` to start from instead of drawing them by seed.
        names: one per run, by which its checkpoint is found; by default its seed.
        on_progress: called after each evaluation.
        on_logged: called with the errors and parameters at each evaluation, for trainers that report them.
        checkpoints: a folder for checkpoints, for trainers that write them.
    """
    check_runs(tasks, recipes, seeds)
    steps = recipes[0].iterations if iterations is None else check_positive("iterations", iterations)
    check_positive("log_interval", log_interval)
    runs = RunGroup(model, tasks, recipes, seeds, initial, names)
    options = Options(
        steps, log_interval, dtype, torch.device(device), compiled, on_progress, on_logged, checkpoints
    )
    return TrainResult.of(trainer_of(recipes[0]).train(runs, options))


def check_runs(tasks: Sequence[Task], recipes: Sequence[Recipe], seeds: Sequence[int]) -> None:
    """Refuse runs that cannot be trained together."""
    if not seeds:
        raise ArgumentError("seeds", "at least one seed", "none")
    if not len(tasks) == len(recipes) == len(seeds):
        got = f"{len(tasks)} tasks, {len(recipes)} recipes and {len(seeds)} seeds"
        raise ArgumentError("tasks, recipes, seeds", "of the same length", got)
    for seed in seeds:
        check_seed(seed)
    if len({task.shape() for task in tasks}) > 1:
        raise ArgumentError("tasks", "of the same shape, to train in one program", "several shapes")
    if len({split(replace(recipe, iterations=1))[0] for recipe in recipes}) > 1:
        raise ArgumentError("recipes", "of the same shape, to train in one program", "several shapes")
