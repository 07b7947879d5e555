"""Runs made by hand: known outcomes, no training."""

import contextlib

import numpy as np

from nalm.experiment.run import Run
from nalm.experiment.store import Record, Store
from nalm.symbolic.expression_graph import ExpressionGraph, Step

EVIL = "</script><img src=x onerror=\"document.title='owned'\">.py:Unit"
"""A name of a unit that wants to be more than text."""
STEPS = np.arange(0, 50_001, 1000)
CHOSEN = 48


def made_record(run: Run, *, solved: bool, model: str | None = None, **changes) -> Record:
    """A run that goes from zero weights to ideal ones, or half way."""
    case = run.case
    unit = case.build()
    with contextlib.suppress(ValueError):  # of a stack nobody knows them: any will do
        case.task.ideal_(unit, run.seed)
    ideal = {name: p.detach().numpy().copy() for name, p in unit.named_parameters()}
    reached = {name: p if solved else 0.5 * p for name, p in ideal.items()}
    share = np.linspace(0, 1, len(STEPS), dtype=np.float32)
    held = {
        "chosen_parameters": reached,
        "final_parameters": reached,
        "history_steps": STEPS,
        "history": {name: np.multiply.outer(share, p) for name, p in reached.items()},
    }
    named = {} if model is None else {"model": model}
    return bare_record(run, solved=solved, **{**held, **named, **changes})


def bare_record(run: Run, *, solved: bool = True, **changes) -> Record:
    """A run without parameters."""
    case = run.case
    errors = np.geomspace(1.0, 1e-14 if solved else 1e-2, len(STEPS))
    values = {
        "id": run.id,
        "task": case.task.name,
        "model": str(case.model),
        "labels": case.task.labels(),
        "seed": run.seed,
        "iterations": case.recipe.iterations,
        "identity": case.identity,
        "machine": {"nalm": "0.5.0", "torch": "2", "cpu_capability": "AVX2", "compiled": True},
        "steps": STEPS,
        "validation": errors,
        "test": 2 * errors,
        "chosen": CHOSEN,
        "diverged_at": -1,
        "reinitialised": 0,
        "sparsity": 0.0 if solved else 0.5,
        "sparsity_with_gates": 0.0 if solved else 0.5,
        "ideal_validation": 1e-3,
        "ideal_test": 1e-3,
        "chosen_parameters": {},
        "final_parameters": {},
        "history_steps": np.array([], dtype=np.int64),
        "history": {},
        "computed_at": "2026-01-02T03:04:05+00:00",
        "cost": {},
        "errors": {},
    }
    return Record(**{**values, **changes})


def searched_record(run: Run, *steps: tuple[str, int, int], **changes) -> Record:
    """A run of a composer that has found these steps, each an operation and two lines; measured once."""
    composer = run.case.build()
    composer.set_graph_(ExpressionGraph(composer.in_features, tuple(Step(*step) for step in steps)))
    held = {name: p.detach().numpy().copy() for name, p in composer.named_parameters()}
    once = {"steps": np.array([1]), "validation": np.zeros(1), "test": np.zeros(1), "chosen": 0}
    return bare_record(run, **{**once, "chosen_parameters": held, **changes})


def fill(path, experiment, solved=lambda run: True, **changes) -> None:
    """Store all runs of an experiment."""
    with Store(path) as store:
        store.add([made_record(run, solved=solved(run), **changes) for run in experiment.runs()])


def fetch_from(records):
    """What reads runs by their names, as a store does."""
    by_id = {record.id: record for record in records}
    return lambda ids: [by_id[name] for name in ids]
