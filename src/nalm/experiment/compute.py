"""Compute a chunk: train its runs and make records of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nalm.experiment.plan import Chunk
from nalm.experiment.run import LOG_INTERVAL, Run
from nalm.experiment.store import Record
from nalm.helpers import sparsity_error
from nalm.training.engine import Report, train_runs
from nalm.training.result import TrainResult
from nalm.units import units_of


def compute(chunk: Chunk, progress: Callable[[Report], None] | None = None) -> list[Record]:
    """Train the runs of a chunk."""
    first = chunk.runs[0]
    result = train_runs(
        first.model.build(first.inputs, 1),
        [run.task for run in chunk.runs],
        [run.recipe for run in chunk.runs],
        [run.seed for run in chunk.runs],
        log_interval=LOG_INTERVAL,
        progress=progress,
    )
    about = machine(result.compiled)
    return [_record(run, k, result, about) for k, run in enumerate(chunk.runs)]


def machine(compiled: bool) -> dict[str, Any]:
    """What the numbers may depend on beside the run itself."""
    return {
        "torch": torch.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "compiled": compiled,
    }


def _record(run: Run, k: int, result: TrainResult, about: dict[str, Any]) -> Record:
    model = result.model_of(k)
    sparsity: list[float | None] = [None, None]
    if units_of(model):
        sparsity = [float(sparsity_error(model, gates=gates).detach()) for gates in (False, True)]
    return Record(
        id=run.id,
        model=str(run.model),
        op=run.op,
        range=run.range,
        inputs=run.inputs,
        seed=run.seed,
        iterations=run.recipe.iterations,
        identity=run.identity(),
        machine=about,
        steps=result.steps.numpy(),
        validation=result.validation[k].numpy(),
        test=result.test[k].numpy(),
        chosen=int(result.chosen[k]),
        diverged_at=int(result.diverged_at[k]),
        reinitialised=int(result.reinitialised[k]),
        sparsity=sparsity[0],
        sparsity_with_gates=sparsity[1],
        chosen_parameters={name: p[k].numpy() for name, p in result.chosen_parameters.items()},
        final_parameters={name: p[k].numpy() for name, p in result.final_parameters.items()},
    )
