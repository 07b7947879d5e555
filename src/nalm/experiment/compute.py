"""Compute a chunk: train its runs and return their records."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nalm._version import __version__
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run, knows_ideal_weights
from nalm.experiment.store import Record
from nalm.models.many import Parameters, is_native
from nalm.tasks import Split
from nalm.trained import OnSteps, RunGroup
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs, trainer_of
from nalm.units.helpers import sparsity_error


def compute(
    chunk: Chunk,
    on_progress: OnSteps | None = None,
    checkpoints: Path | None = None,
    device: str = "cpu",
) -> list[Record]:
    """Train the runs of a chunk.

    Args:
        chunk: the runs.
        on_progress: called after each evaluation.
        checkpoints: a folder for checkpoints of unfinished runs.
        device: where to train.
    """
    case = chunk.first
    try:
        model, seeds = case.build(), [run.seed for run in chunk.runs]
        result = train_runs(
            model,
            [run.case.task for run in chunk.runs],
            [run.case.recipe for run in chunk.runs],
            seeds,
            log_interval=case.task.log_interval,
            dtype=trainer_of(case.recipe).precision_of(case.task),
            initial=initial_parameters(chunk.runs),
            names=[run.id for run in chunk.runs],
            on_progress=on_progress,
            checkpoints=checkpoints,
            device=device,
        )
        ideal = ideal_errors(model, chunk.runs)
    except (Exception, SystemExit) as error:  # a user's own unit may raise anything
        explained = case.model.explain_failure(error)
        if explained is error:  # an error that is its own cause would be an endless chain
            raise
        raise explained from error
    about, now = versions(result.compiled), datetime.now(UTC).isoformat(timespec="seconds")
    sparsity = [_sparsities(case, result, gates=gates) for gates in (False, True)]
    return [
        _record(run, k, result, ideal.get(run, {}), [values[k] for values in sparsity], about, now)
        for k, run in enumerate(chunk.runs)
    ]


def initial_parameters(runs: Sequence[Run]) -> Parameters | None:
    """What each run starts from by its own case; None where the engine draws it by the units' own rules."""
    by_case = itertools.groupby(runs, key=operator.attrgetter("case"))
    drawn = [case.initial([run.seed for run in part]) for case, part in by_case]
    held = [parameters for parameters in drawn if parameters is not None]
    return {name: torch.cat([each[name] for each in held]) for name in held[0]} if held else None


def prepare(chunk: Chunk, program: str) -> None:
    """Compile one of a chunk's programs into the cache, where other processes find it."""
    case = chunk.first
    trainer_of(case.recipe).prepare(case.build(), case.task, case.recipe, program)


def versions(compiled: bool) -> dict[str, Any]:
    """What the numbers may depend on besides the run itself."""
    return {
        "nalm": __version__,
        "torch": torch.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "compiled": compiled,
    }


def ideal_errors(
    model: nn.Module, runs: Sequence[Run], *, compiled: bool = True
) -> dict[Run, dict[Split, float]]:
    """The errors of ideal weights, by split, of each run whose task has no threshold.

    Args:
        model: the model of the runs; its weights are changed.
        runs: the runs.
        compiled: compile the evaluation, or run it eagerly.
    """
    wanted = {run.case: run.case.task.threshold() is None and knows_ideal_weights(run.case) for run in runs}
    chosen = [run for run in runs if wanted[run.case]]
    if not chosen:
        return {}
    held = []
    for run in chosen:
        run.case.task.ideal_(model, run.seed)
        held.append({name: p.detach().clone() for name, p in model.named_parameters()})
    ideal = {name: torch.stack([each[name] for each in held]) for name in held[0]}
    tasks, recipes = [run.case.task for run in chosen], [run.case.recipe for run in chosen]
    group = RunGroup(model, tasks, recipes, [run.seed for run in chosen], ideal)
    errors = trainer_of(recipes[0]).evaluate(group, compiled=compiled)
    return {run: {split: float(e[k]) for split, e in errors.items()} for k, run in enumerate(chosen)}


def _sparsities(case: Case, result: TrainResult, *, gates: bool) -> list[float | None]:
    """The sparsity error of each run at its chosen step; None for a model whose weights cannot be read.

    Biases are counted, because they always were: to leave them out would change the numbers of stored runs.
    """
    nothing: list[float | None] = [None] * len(result)
    if not case.model.made_of_units:
        return nothing
    try:
        if not is_native(result.model):  # the unit is part of a network
            models = map(result.model_of, range(len(result)))
            return [float(sparsity_error(model, gates=gates, biases=True).detach()) for model in models]
        model = case.build((len(result),))
        model.load_state_dict(result.chosen_parameters)
        return [float(value) for value in sparsity_error(model, gates=gates, biases=True).detach()]
    except NotImplementedError:
        return nothing


def _record(
    run: Run,
    k: int,
    result: TrainResult,
    ideal: dict[Split, float],
    sparsity: Sequence[float | None],
    about: dict[str, Any],
    computed_at: str,
) -> Record:
    case = run.case
    return Record(
        id=run.id,
        task=case.task.name,
        model=str(case.model),
        labels=case.task.labels(),
        seed=run.seed,
        iterations=case.recipe.iterations,
        identity=case.identity,
        machine=about,
        steps=result.steps.numpy(),
        validation=result.validation[k].numpy(),
        test=result.test[k].numpy(),
        chosen=int(result.chosen[k]),
        diverged_at=int(result.diverged_at[k]),
        reinitialised=int(result.reinitialised[k]),
        sparsity=sparsity[0],
        sparsity_with_gates=sparsity[1],
        ideal_validation=ideal.get(Split.VALIDATION),
        ideal_test=ideal.get(Split.TEST),
        chosen_parameters={name: p[k].numpy() for name, p in result.chosen_parameters.items()},
        final_parameters={name: p[k].numpy() for name, p in result.final_parameters.items()},
        history_steps=result.history_steps.numpy(),
        history={name: p[k].numpy() for name, p in result.history.items()},
        computed_at=computed_at,
        cost=result.costs[k] if result.costs is not None else {},
        errors={name: curve[k].numpy() for name, curve in result.errors.items()},
    )
