"""`nalm.train`: train from Python with the engine, one model or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from nalm.compose.spec import ModelSpec
from nalm.errors import ArgumentError
from nalm.tasks import Table, Task
from nalm.training.engine import Report, train_runs
from nalm.training.recipe import Recipe
from nalm.training.result import TrainResult
from nalm.units import units_of


def train(
    model: nn.Module | str,
    data: Task | tuple[Tensor, Tensor],
    recipe: Recipe | None = None,
    *,
    seeds: int | Sequence[int] | None = None,
    hidden: int = 2,
    iterations: int | None = None,
    log_interval: int = 1000,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
    compiled: bool = True,
    progress: Callable[[Report], None] | None = None,
) -> TrainResult:
    """Train a model on a task or on data, for one seed or for thousands at once.

    Args:
        model: an `nn.Module`, or a name such as "nmu" or "nau+nmu". A module is trained in place: it ends
            with the weights of the lowest validation error, of the best seed.
        data: a task, or a tuple of inputs `n x in` and targets `n x out`.
        recipe: how to train; by default the published recipe of the unit, or of the last unit of a stack.
        seeds: how many seeds (0, 1, …), or which; each starts from weights drawn by its seed. None trains
            the module once, from the weights it has.
        hidden: values between the units of a stack given by name.
        iterations: steps; by default those of the recipe.
        log_interval: steps between evaluations.
        dtype: float32 or float64; by default that of the module.
        device: where to train.
        compiled: compile the training step (seconds, once), or run it eagerly.
        progress: called after each evaluation with a `Report`.

    Returns:
        Curves, chosen weights and outcomes of all runs.
    """
    task = data if isinstance(data, Task) else _table(data)
    seed_list = _seeds(seeds)
    recipe = recipe if recipe is not None else _published(model, task)
    module = (
        ModelSpec.parse(model).build(task.in_features, task.out_features, hidden=hidden)
        if isinstance(model, str)
        else model
    )
    if not isinstance(module, nn.Module):
        raise ArgumentError("model", "an nn.Module or the name of one", type(model).__name__)
    own = next(module.parameters(), torch.empty(0))
    initial = None
    if seeds is None and not isinstance(model, str):
        initial = {name: p.detach()[None] for name, p in module.named_parameters()}
    result = train_runs(
        module,
        [task] * len(seed_list),
        [recipe] * len(seed_list),
        seed_list,
        iterations=iterations,
        log_interval=log_interval,
        dtype=own.dtype if dtype is None else dtype,
        device=device,
        compiled=compiled,
        initial=initial,
        progress=progress,
    )
    best = result.model_of(result.best)
    module.load_state_dict(best.state_dict())
    return replace(result, model=module)


def _published(model: nn.Module | str, task: Task) -> Recipe:
    op = getattr(task, "op", None)
    if isinstance(model, str):
        spec = ModelSpec.parse(model)
        return spec.make_recipe(spec.units[-1].ops[0] if op is None else op, task.in_features)
    units = units_of(model) if isinstance(model, nn.Module) else []
    if not units:
        return Recipe()
    last = units[-1]
    name = "arithmetic" if len(units) > 1 and "arithmetic" in last.recipes else "published"
    return last.recipe(last.ops[0] if op is None else op, name, inputs=task.in_features)


def _table(data: tuple[Tensor, Tensor]) -> Table:
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ArgumentError("data", "a task or a tuple of inputs and targets", type(data).__name__)
    return Table(*data)


def _seeds(seeds: int | Sequence[int] | None) -> list[int]:
    if seeds is None:
        return [0]
    if isinstance(seeds, bool) or (isinstance(seeds, int) and seeds < 1):
        raise ArgumentError("seeds", "a positive number of seeds, or a list of them", repr(seeds))
    return list(range(seeds)) if isinstance(seeds, int) else list(seeds)
