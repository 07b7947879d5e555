"""Trainers: what carries a recipe out. All take the same arguments and give the same kind of result.

A recipe names its trainer by its optimiser: the engine trains many models side by side in compiled programs,
the second-order trainer solves one after the other. Whoever trains asks `trainer_of` and looks no further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import nn

from nalm.engine import many_runs as engine
from nalm.errors import ArgumentError, check_positive
from nalm.models.many import Parameters
from nalm.recipes import Recipe
from nalm.recipes.numbers import split
from nalm.second_order.checks import check_model, check_task
from nalm.second_order.runs import solve_runs
from nalm.streams import check_seed
from nalm.tasks import Split, Task
from nalm.trained import OnSteps, Options, Trained
from nalm.training.result import TrainResult


class Trainer:
    """Base of all trainers."""

    name: ClassVar[str]
    """What `Recipe.trainer` says."""
    precision: ClassVar[torch.dtype]
    """The precision of stored runs."""
    chunk: ClassVar[int]
    """Runs of a program that are worth computing, and losing, together."""
    programs: ClassVar[tuple[str, ...]] = ()
    """Programs that can be compiled before they are used."""

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model, or a task, that it cannot train."""

    def train(
        self,
        model: nn.Module,
        tasks: Sequence[Task],
        recipes: Sequence[Recipe],
        seeds: Sequence[int],
        options: Options,
    ) -> Trained:
        """Train one copy of the model per seed, each with its own task and recipe."""
        raise NotImplementedError

    def evaluate(
        self,
        model: nn.Module,
        tasks: Sequence[Task],
        recipes: Sequence[Recipe],
        seeds: Sequence[int],
        parameters: Parameters,
        *,
        compiled: bool = True,
    ) -> dict[Split, torch.Tensor]:
        """Errors of models with these parameters `runs x ...` on the fixed sets of their seeds."""
        wide = {name: p.to(self.precision) for name, p in parameters.items()}
        compiled = compiled and bool(self.programs)
        return engine.evaluate_runs(model, tasks, recipes, seeds, wide, compiled=compiled)

    def prepare(self, model: nn.Module, task: Task, recipe: Recipe, program: str) -> None:
        """Compile one of its programs, so that other processes find it in the cache."""

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """What these runs take on one core, roughly, without compiling."""
        raise NotImplementedError


class Engine(Trainer):
    """Many models of one architecture side by side, in compiled programs."""

    name, precision, chunk = "engine", torch.float32, 1000
    programs = ("train", "evaluate")
    SECONDS_PER_STEP: ClassVar[float] = 1e-6
    """Of a run with two inputs."""

    def train(
        self,
        model: nn.Module,
        tasks: Sequence[Task],
        recipes: Sequence[Recipe],
        seeds: Sequence[int],
        options: Options,
    ) -> Trained:
        """Train one copy of the model per seed, each with its own task and recipe."""
        return engine.train_side_by_side(model, tasks, recipes, seeds, options)

    def prepare(self, model: nn.Module, task: Task, recipe: Recipe, program: str) -> None:
        """Compile one of its programs, so that other processes find it in the cache."""
        engine.compile_program(model, task, recipe, evaluate=program == "evaluate")

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """What these runs take on one core, roughly, without compiling."""
        return runs * recipe.iterations * max(1, inputs / 2) * self.SECONDS_PER_STEP


class SecondOrder(Trainer):
    """One run after the other by Levenberg-Marquardt, in float64 on the CPU whatever is asked for."""

    name, precision, chunk = "second-order", torch.float64, 10
    SECONDS_PER_INPUT: ClassVar[float] = 0.02

    def check(self, model: nn.Module, task: Task) -> None:
        """Refuse a model that is too large, and a task without any number of rows."""
        check_model(model)
        check_task(task)

    def train(
        self,
        model: nn.Module,
        tasks: Sequence[Task],
        recipes: Sequence[Recipe],
        seeds: Sequence[int],
        options: Options,
    ) -> Trained:
        """Solve one copy of the model per seed, each with its own task and recipe."""
        return solve_runs(model, tasks, recipes, seeds, options)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """What these runs take on one core, roughly, without compiling."""
        return runs * inputs * self.SECONDS_PER_INPUT


TRAINERS: dict[str, Trainer] = {trainer.name: trainer for trainer in (Engine(), SecondOrder())}


def trainer_of(recipe: Recipe) -> Trainer:
    """The trainer that carries a recipe out."""
    return TRAINERS[recipe.trainer]


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
    on_progress: OnSteps | None = None,
) -> TrainResult:
    """Train one copy of the model per seed, each with its own task and recipe, by the recipe's trainer.

    Args:
        model: the architecture.
        tasks: one per run, all of one shape.
        recipes: one per run, all of one shape.
        seeds: one per run.
        iterations: steps; by default those of the recipe.
        log_interval: steps between evaluations.
        dtype: precision, float32 or float64.
        device: where to train.
        compiled: compile the step, or run it eagerly.
        initial: parameters `runs x ...` to start from instead of drawn ones.
        on_progress: called after each evaluation.
    """
    check_runs(tasks, recipes, seeds)
    steps = recipes[0].iterations if iterations is None else check_positive("iterations", iterations)
    check_positive("log_interval", log_interval)
    options = Options(steps, log_interval, dtype, torch.device(device), compiled, initial, on_progress)
    return TrainResult.of(trainer_of(recipes[0]).train(model, tasks, recipes, seeds, options))


def check_runs(tasks: Sequence[Task], recipes: Sequence[Recipe], seeds: Sequence[int]) -> None:
    """Refuse runs that cannot be trained together."""
    if not seeds:
        raise ArgumentError("seeds", "at least one seed", "none")
    if not len(tasks) == len(recipes) == len(seeds):
        got = f"{len(tasks)} tasks, {len(recipes)} recipes and {len(seeds)} seeds"
        raise ArgumentError("tasks, recipes, seeds", "of one length", got)
    for seed in seeds:
        check_seed(seed)
    if len({task.shape() for task in tasks}) > 1:
        raise ArgumentError("tasks", "of one shape, to train in one program", "several shapes")
    if len({split(replace(recipe, iterations=1))[0] for recipe in recipes}) > 1:
        raise ArgumentError("recipes", "of one shape, to train in one program", "several shapes")
