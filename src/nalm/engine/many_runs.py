"""The engine: trains R models of one architecture at once, model axis first.

Runs train side by side in batches (see `batch`) as wide as the cache allows, one batch after the other. All
models are evaluated on their fixed validation and test sets before step 0, then every `log_interval` steps,
and after the last step.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalm.engine.batch import Batch, Settings
from nalm.engine.log import Log
from nalm.errors import ArgumentError
from nalm.models.many import Models, Parameters
from nalm.models.rehearsal import rehearse
from nalm.recipes import Recipe
from nalm.tasks._base import Split, Task
from nalm.threads import one_thread
from nalm.trained import Options, RunGroup, StepsDone, Trained

WORKING_SET = 3 << 19
"""Bytes of training data per step that fit into a core's cache next to everything else: 1.5 MiB."""
WIDEST, NARROWEST = 1024, 16
"""Bounds of the number of models that train side by side; a wider batch is no faster."""


def train_side_by_side(runs: RunGroup, options: Options) -> Trained:
    """Train one copy of the model per seed, each with its own task and recipe."""
    settings = Settings(
        options.iterations, options.log_interval, options.dtype, options.device, options.compiled
    )
    task = runs.tasks[0]
    check_precision(task, options.dtype)
    models = Models(runs.model, settings.dtype, settings.device)
    models.check_fit(task.input_shape, task.output_shape)
    began = time.perf_counter()
    total = len(runs) * settings.iterations

    def on_progress(done: int) -> None:
        if options.on_progress is not None:
            options.on_progress(StepsDone(done, total, time.perf_counter() - began))

    width = _width(task, runs.recipes[0], settings)
    parts = []
    # Training needs gradients, even if the caller has switched them off.
    with torch.inference_mode(False), torch.enable_grad(), one_thread():
        for first in range(0, len(runs), width):
            batch = Batch(models, runs.some(slice(first, first + width)), settings)
            batch.log.on_added = functools.partial(options.tell, first)
            if first == 0 and models.foreign:
                rehearse(models, batch.parameters, batch.examples(), task.output_shape)
            parts.append(batch.run(functools.partial(_add, on_progress, first * settings.iterations)))
    return collect(runs, parts, time.perf_counter() - began)


def evaluate_runs(runs: RunGroup, *, compiled: bool = True) -> dict[Split, Tensor]:
    """The decisive errors of models with their initial parameters, on the fixed sets of their seeds."""
    assert runs.initial is not None
    dtype = next(iter(runs.initial.values())).dtype
    settings = Settings(1, 1, dtype, torch.device("cpu"), compiled)
    models = Models(runs.model, dtype, settings.device)
    width = _width(runs.tasks[0], runs.recipes[0], settings)
    starts = range(0, len(runs), width)
    parts = [Batch(models, runs.some(slice(k, k + width)), settings).errors() for k in starts]
    decisive = {Split.VALIDATION: Split.VALIDATION, Split.TEST: runs.tasks[0].tests[0]}
    return {
        split: torch.cat([next(iter(part[name].values())) for part in parts])
        for split, name in decisive.items()
    }


def compile_program(model: nn.Module, task: Task, recipe: Recipe, *, evaluate: bool) -> None:
    """Compile the program that evaluates or the one that trains into the cache, without running it."""
    settings = Settings(1, 1, torch.float32, torch.device("cpu"), True)
    models = Models(model, settings.dtype, settings.device)
    initial = {name: p.detach()[None] for name, p in model.named_parameters()}
    with torch.inference_mode(False), torch.enable_grad():
        Batch(models, RunGroup(model, [task], [recipe], [0], initial), settings).compile(evaluate=evaluate)


def check_precision(task: Task, dtype: torch.dtype) -> None:
    """Refuse a dtype that differs from that of the task's data."""
    if dtype not in (torch.float32, torch.float64):
        raise ArgumentError("dtype", "torch.float32 or torch.float64", str(dtype))
    if task.dtype not in (None, dtype):
        hint = "Nothing is cast silently: use .to(...) on one of them."
        raise ArgumentError("data", f"of dtype {dtype} like the model", str(task.dtype), hint)


def _width(task: Task, recipe: Recipe, settings: Settings) -> int:
    """How many models train side by side: as many as keep the data of a step in the cache."""
    size = recipe.batch_size * max(task.draws, task.in_features) * settings.dtype.itemsize
    return max(NARROWEST, min(WIDEST, WORKING_SET // size))


def _add(on_progress: Callable[[int], None], before: int, done: int) -> None:
    on_progress(before + done)


def collect(runs: RunGroup, parts: list[Log], seconds: float) -> Trained:
    """The logs of all batches as one record."""

    def together(pick: Callable[[Log], Parameters]) -> Parameters:
        return {name: torch.cat([pick(part)[name] for part in parts]) for name in pick(parts[0])}

    return Trained(
        model=runs.model,
        tasks=list(runs.tasks),
        seeds=list(runs.seeds),
        steps=torch.tensor(parts[0].steps),
        validation=torch.cat([torch.stack(part.validation, -1) for part in parts]),
        test=torch.cat([torch.stack(part.test, -1) for part in parts]),
        errors={
            name: torch.cat([torch.stack(part.further[name], -1) for part in parts])
            for name in parts[0].further
        },
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
