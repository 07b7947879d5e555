"""The engine: trains R models of one architecture at once, model axis first.

Runs train side by side in batches (see `batch`) as wide as the cache allows, one batch after the other. Every
`log_interval` steps all models are evaluated on their fixed validation and test sets, before the step, from
step 0 to the last.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.streams import check_seed
from nalm.tasks._base import Split, Task
from nalm.training.batch import Batch, Settings
from nalm.training.log import Log
from nalm.training.models import Models, Parameters
from nalm.training.numbers import split
from nalm.training.recipe import Recipe
from nalm.training.rehearsal import rehearse
from nalm.training.result import TrainResult

WORKING_SET = 3 << 19
"""Bytes of training data made per step that still fit into a core's cache beside everything else: 1.5 MiB."""
WIDEST, NARROWEST = 1024, 16
"""Bounds of the number of models that train side by side; a wider batch brings nothing more."""


class Report(NamedTuple):
    """How far the work is, for a progress callback. A run-step is one step of one run."""

    done: int
    total: int
    seconds: float


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
    progress: Callable[[Report], None] | None = None,
) -> TrainResult:
    """Train one copy of the model per seed, each with its own task and recipe.

    A recipe with Levenberg-Marquardt is solved in float64 on the CPU, whatever the precision asked for.

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
        progress: called after each evaluation.
    """
    settings = _settings(
        tasks, recipes, seeds, iterations, log_interval, dtype, torch.device(device), compiled
    )
    if recipes[0].is_second_order:
        return _solve(model, tasks, recipes, seeds, settings.iterations, progress)
    models = Models(model, settings.dtype, settings.device)
    models.check_fit(tasks[0].in_features, tasks[0].out_features)
    began = time.perf_counter()
    total = len(seeds) * settings.iterations

    def tell(done: int) -> None:
        if progress is not None:
            progress(Report(done, total, time.perf_counter() - began))

    width = _width(tasks[0], recipes[0], settings)
    parts = []
    # Whatever mode the caller is in, training needs gradients.
    with torch.inference_mode(False), torch.enable_grad():
        for first in range(0, len(seeds), width):
            lanes = slice(first, first + width)
            start = {k: p[lanes] for k, p in initial.items()} if initial is not None else None
            batch = Batch(models, tasks[lanes], recipes[lanes], seeds[lanes], settings, start)
            if first == 0 and models.foreign:
                rehearse(models, batch.parameters, batch.examples(), tasks[0].out_features)
            parts.append(batch.run(functools.partial(_tell_part, tell, first * settings.iterations)))
    return _collect(model, tasks, seeds, parts, time.perf_counter() - began)


def _solve(
    model: nn.Module,
    tasks: Sequence[Task],
    recipes: Sequence[Recipe],
    seeds: Sequence[int],
    iterations: int,
    progress: Callable[[Report], None] | None,
) -> TrainResult:
    """Second-order training: always in float64, run by run, its logged steps its own."""
    from nalm.second_order.runs import solve_runs

    began, total = time.perf_counter(), len(seeds) * iterations

    def tell(done: int) -> None:
        if progress is not None:
            progress(Report(done, total, time.perf_counter() - began))

    return solve_runs(model, tasks, recipes, seeds, iterations, tell)


def evaluate_runs(
    model: nn.Module,
    tasks: Sequence[Task],
    recipes: Sequence[Recipe],
    seeds: Sequence[int],
    parameters: Parameters,
    *,
    compiled: bool = True,
) -> dict[Split, Tensor]:
    """Errors of models with these parameters `runs x ...` on the fixed sets of their seeds, float64."""
    dtype = next(iter(parameters.values())).dtype
    settings = _settings(tasks, recipes, seeds, None, 1, dtype, torch.device("cpu"), compiled)
    models = Models(model, dtype, settings.device)
    width = _width(tasks[0], recipes[0], settings)
    parts = []
    for first in range(0, len(seeds), width):
        lanes = slice(first, first + width)
        start = {k: p[lanes] for k, p in parameters.items()}
        parts.append(Batch(models, tasks[lanes], recipes[lanes], seeds[lanes], settings, start).errors())
    return {split: torch.cat([part[split] for part in parts]) for split in parts[0]}


def compile_program(model: nn.Module, task: Task, recipe: Recipe, *, evaluate: bool) -> None:
    """Compile the program that evaluates or the one that trains, without using it: the cache then has it."""
    settings = _settings([task], [recipe], [0], None, 1, torch.float32, torch.device("cpu"), True)
    models = Models(model, settings.dtype, settings.device)
    initial = {name: p.detach()[None] for name, p in model.named_parameters()}
    with torch.inference_mode(False), torch.enable_grad():
        Batch(models, [task], [recipe], [0], settings, initial).compile(evaluate=evaluate)


def _settings(
    tasks: Sequence[Task],
    recipes: Sequence[Recipe],
    seeds: Sequence[int],
    iterations: int | None,
    log_interval: int,
    dtype: torch.dtype,
    device: torch.device,
    compiled: bool,
) -> Settings:
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
    if dtype not in (torch.float32, torch.float64):
        raise ArgumentError("dtype", "torch.float32 or torch.float64", str(dtype))
    given = tasks[0].dtype
    if given not in (None, dtype):
        hint = "Nothing is cast silently: use .to(...) on one of them."
        raise ArgumentError("data", f"of dtype {dtype} like the model", str(given), hint)
    if iterations is None:
        iterations = recipes[0].iterations
    check_positive("iterations", iterations)
    check_positive("log_interval", log_interval)
    return Settings(iterations, log_interval, dtype, device, compiled)


def _width(task: Task, recipe: Recipe, settings: Settings) -> int:
    """How many models train side by side: as many as keep the data of a step in the cache."""
    size = recipe.batch_size * max(task.draws, task.in_features) * settings.dtype.itemsize
    return max(NARROWEST, min(WIDEST, WORKING_SET // size))


def _tell_part(tell: Callable[[int], None], before: int, done: int) -> None:
    tell(before + done)


def _collect(
    model: nn.Module, tasks: Sequence[Task], seeds: Sequence[int], parts: list[Log], seconds: float
) -> TrainResult:
    def together(pick: Callable[[Log], Parameters]) -> Parameters:
        return {name: torch.cat([pick(part)[name] for part in parts]) for name in pick(parts[0])}

    return TrainResult(
        model=model,
        tasks=list(tasks),
        seeds=list(seeds),
        steps=torch.tensor(parts[0].steps),
        validation=torch.cat([torch.stack(part.validation, -1) for part in parts]),
        test=torch.cat([torch.stack(part.test, -1) for part in parts]),
        chosen=torch.cat([part.chosen for part in parts]),
        chosen_parameters=together(lambda part: part.chosen_parameters),
        final_parameters=together(lambda part: part.final),
        history_steps=torch.tensor(parts[0].history_steps),
        history=together(lambda part: part.over_time()),
        diverged_at=torch.cat([part.diverged_at for part in parts]),
        reinitialised=torch.cat([part.reinitialised for part in parts]),
        compiled=parts[0].compiled,
        seconds=seconds,
    )
