"""The ordinary loop: runs train one after the other, eagerly, with checkpoints.

For networks that are too large to train side by side. A step is the engine's own step of one model, and all
random numbers come from the same streams: only the order of work differs. Every `log_interval` steps the
whole state is written to a checkpoint; an interrupted run resumes there, and ends with the same bits as one
without interruption.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import torch

from nalm.engine.batch import Batch, Settings
from nalm.engine.checkpoint import Checkpoint
from nalm.engine.log import Log
from nalm.engine.many_runs import check_precision, collect
from nalm.models.one import OneModel
from nalm.threads import one_thread
from nalm.trained import Options, RunGroup, StepsDone, Trained

REPORT_INTERVAL = 20
"""Steps between two reports of progress: a step of a large network takes a good part of a second."""


def train_one_by_one(runs: RunGroup, options: Options) -> Trained:
    """Train one copy of the model per seed, each with its own task and recipe."""
    task = runs.tasks[0]
    check_precision(task, options.dtype)
    models = OneModel(runs.model, options.dtype, options.device)
    models.check_fit(task.input_shape, task.output_shape)
    began, steps = time.perf_counter(), options.iterations

    def on_progress(before: int, done: int) -> None:
        if options.on_progress is not None:
            passed = time.perf_counter() - began
            options.on_progress(StepsDone(before + done, len(runs) * steps, passed))

    logs = []
    with torch.inference_mode(False), torch.enable_grad(), one_thread():
        for k in range(len(runs)):
            one = runs.some(slice(k, k + 1))
            tell = functools.partial(options.tell, k)
            logs.append(_train(models, one, options, functools.partial(on_progress, k * steps), tell))
    return collect(runs, logs, time.perf_counter() - began)


def _train(
    models: OneModel,
    run: RunGroup,
    options: Options,
    on_progress: Callable[[int], None],
    on_added: Callable[..., None],
) -> Log:
    settings = Settings(
        options.iterations, options.log_interval, options.dtype, options.device, False, REPORT_INTERVAL
    )
    batch = Batch(models, run, settings)
    batch.log.on_added = on_added
    if options.checkpoints is None:
        return batch.run(on_progress)
    checkpoint = Checkpoint.of(run, options, models)
    first = checkpoint.load_(batch)
    return batch.run(on_progress, first, functools.partial(checkpoint.save, batch))
