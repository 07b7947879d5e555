"""`nalm.train`: train one model or many from Python."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nalm.engine.checkpoint import discard
from nalm.errors import ArgumentError, check_positive
from nalm.models.many import check_changeable, is_native, made_by_seed
from nalm.models.spec import ModelSpec
from nalm.recipes import Recipe
from nalm.recipes.steps import timing_of, with_steps
from nalm.tasks import Table, Task
from nalm.trained import Logged, StepsDone
from nalm.training.published import published_recipe
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs
from nalm.units._options import check_device


def train(
    model: nn.Module | str,
    data: Task | tuple[Any, Any],
    recipe: Recipe | None = None,
    *,
    seeds: int | Sequence[int] | None = None,
    hidden: int = 2,
    iterations: int | None = None,
    log_interval: int = 1000,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
    compiled: bool = True,
    on_progress: Callable[[StepsDone], None] | None = None,
    on_logged: Callable[[Logged], None] | None = None,
    checkpoints: Path | str | None = None,
) -> TrainResult:
    """Train a model on a task or on data, for one seed or for thousands at once.

    Args:
        model: an `nn.Module`, or a name such as "nmu" or "nau+nmu". A module is trained in place: it ends
            with the weights of the best seed at its lowest validation error.
        data: a task, or a tuple of inputs `n x in` and targets `n x out`: tensors, arrays, lists of rows or
            DataFrames. Anything but a floating-point tensor is converted to the model's precision.
        recipe: how to train; by default the published recipe of the (last) unit, the same as in a benchmark.
            It also sets the number of steps: 50,000 or 100,000 for a single unit or a table, 5 million for a
            stack on a synthetic task.
        seeds: the number of seeds (0, 1, …), or a list of seeds; each starts from weights drawn by its seed.
            None trains the module once, from the weights it has.
        hidden: the number of values between the units of a stack given by name.
        iterations: the number of steps; by default that of the recipe. With fewer, the schedules of the
            published recipe are shortened in proportion; those of a given recipe stay as they are, with a
            warning if part of it comes too late.
        log_interval: steps between evaluations.
        dtype: precision of a model given by name, float32 or float64; a module trains in its own.
        device: where to train.
        compiled: compile the training step (seconds, once), or run it eagerly.
        on_progress: called after each evaluation with a `StepsDone`.
        on_logged: called after each evaluation with a `Logged`: the errors and parameters of the runs there.
            In second-order training it is called for all steps of a run once the run is solved.
        checkpoints: a folder in which a recipe with `by="loop"` keeps the state of unfinished runs. The same
            call resumes from there; once all runs are finished, the files are deleted.

    Returns:
        Curves, chosen weights and outcomes of all runs.
    """
    task = data if isinstance(data, Task) else _table(data, _precision(model, dtype))
    seed_list = _seeds(seeds)
    spec = ModelSpec.parse(model) if isinstance(model, str) else None
    if spec is not None:
        build = functools.partial(_build, spec, task, hidden, dtype)
        model = build()
    if not isinstance(model, nn.Module):
        raise ArgumentError("model", "an nn.Module or the name of one", type(model).__name__)
    check_changeable(model)
    device = check_device(device) or torch.device("cpu")
    for name, called in (("on_progress", on_progress), ("on_logged", on_logged)):
        if called is not None and (isinstance(called, type) or not callable(called)):
            raise ArgumentError(name, "None or a function of one argument", repr(called))
    folder = _folder(checkpoints)
    if not isinstance(recipe, Recipe | None):
        raise ArgumentError("recipe", "a Recipe", repr(recipe))
    published = published_recipe(spec or model, task)  # also refuses a unit that cannot express the task
    chosen = _in_steps(recipe, published, iterations)
    own = next(model.parameters(), torch.empty(0))
    if dtype not in (None, own.dtype):
        hint = "Models are not cast silently: use model.to(...)."
        raise ArgumentError("dtype", f"that of the model, {own.dtype}", str(dtype), hint)
    initial = None
    if seeds is None and spec is None:
        initial = {name: p.detach()[None] for name, p in model.named_parameters()}
    elif spec is not None and not is_native(model):
        initial = made_by_seed(build, seed_list)
    result = train_runs(
        model,
        [task] * len(seed_list),
        [chosen] * len(seed_list),
        seed_list,
        iterations=iterations,
        log_interval=log_interval,
        dtype=own.dtype,
        device=device,
        compiled=compiled,
        initial=initial,
        on_progress=on_progress,
        on_logged=on_logged,
        checkpoints=folder,
    )
    if folder is not None:
        discard(folder, [f"seed-{seed}" for seed in seed_list])
    model.load_state_dict(result.model_of(result.best).state_dict())
    return result


def _build(spec: ModelSpec, task: Task, hidden: int, dtype: torch.dtype | None) -> nn.Module:
    """The task's network with the model in it."""
    return task.network(spec.build(*task.unit_features, hidden=hidden, dtype=dtype))


def _in_steps(given: Recipe | None, published: Recipe, steps: int | None) -> Recipe:
    """The recipe with this number of steps; only the schedules of the published one are shortened."""
    if steps is None:
        return given or published
    check_positive("iterations", steps)
    if given is None:
        return with_steps(published, steps)
    if missed := timing_of(replace(given, iterations=steps), given).missed:
        text = f"With {steps:,} instead of {given.iterations:,} steps, {'; '.join(missed)}."
        warnings.warn(text, stacklevel=3)
    return replace(given, iterations=steps)


def _table(data: tuple[Any, Any], dtype: torch.dtype | None) -> Table:
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ArgumentError("data", "a task or a tuple of inputs and targets", type(data).__name__)
    return Table(*data, dtype=dtype)


def _folder(checkpoints: Path | str | None) -> Path | None:
    if not isinstance(checkpoints, Path | str | None):
        raise ArgumentError("checkpoints", "a folder", repr(checkpoints))
    return None if checkpoints is None else Path(checkpoints)


def _precision(model: nn.Module | str, dtype: torch.dtype | None) -> torch.dtype | None:
    """The precision in which a model trains; None for torch's default."""
    if isinstance(model, nn.Module):
        return next((p.dtype for p in model.parameters()), dtype)
    return dtype


def _seeds(seeds: int | Sequence[int] | None) -> list[int]:
    if seeds is None:
        return [0]
    wrong = isinstance(seeds, bool) or not isinstance(seeds, (int, Sequence))
    if wrong or (isinstance(seeds, int) and seeds < 1):
        raise ArgumentError("seeds", "a positive number of seeds, or a list of them", repr(seeds))
    return list(range(seeds)) if isinstance(seeds, int) else list(seeds)
