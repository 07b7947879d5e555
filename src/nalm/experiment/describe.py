"""Stored runs, told: outcome, weights and formula at the chosen step, curves."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from nalm.compose import ModelSpec
from nalm.errors import NalmError, unknown
from nalm.evaluate.outcome import limits
from nalm.experiment.bench import verdict_on
from nalm.experiment.store import Record, Store, StoreError
from nalm.symbolic import explain
from nalm.tasks import TASKS, RangeTask
from nalm.tasks.known_ranges import parse_pair
from nalm.units import units_of


@dataclass(frozen=True)
class Filter:
    """Which runs: those that match one of the values of every list that is given."""

    unit: Sequence[str] | None = None
    op: Sequence[str] | None = None
    range: Sequence[str] | None = None
    seed: Sequence[int] | None = None

    def matches(self, record: Record) -> bool:
        """Whether a run is wanted; a unit matches by its name alone or by all that was written."""
        return (
            (self.unit is None or bool({record.model, _name(record)} & set(self.unit)))
            and (self.op is None or record.op in self.op)
            and (self.range is None or any(_same_range(record.range, text) for text in self.range))
            and (self.seed is None or record.seed in self.seed)
        )

    def check(self, records: Sequence[Record]) -> None:
        """Refuse names of which no run is stored."""
        known: dict[str, set[Any]] = {
            "unit": {r.model for r in records} | {_name(r) for r in records},
            "op": {r.op for r in records},
            "seed": {r.seed for r in records},
        }
        for argument, values in known.items():
            for wanted in getattr(self, argument) or ():
                if wanted not in values:
                    raise unknown(argument, str(wanted), sorted(map(str, values)))
        for text in self.range or ():
            if not any(_same_range(r.range, text) for r in records):
                raise unknown("range", text, sorted({r.range for r in records}))


def described_runs(
    path: Path,
    wanted: Filter,
    *,
    formulas: bool = True,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """The stored runs that are wanted, as plain data.

    Args:
        path: the store.
        wanted: which runs.
        formulas: read each run's formula, which takes about ten milliseconds.
        tell: is told how many of how many runs are done.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist; `nalm bench` makes it.")
    with Store(path) as store:
        all_records = list(store.records(curves_only=True))
        wanted.check(all_records)
        ids = [record.id for record in all_records if wanted.matches(record)]
        found = []
        for run in _described(store.records(ids), formulas):
            found.append(run)
            tell(len(found), len(ids))
        return found


def _described(records: Iterator[Record], formulas: bool) -> Iterator[dict[str, Any]]:
    for record in records:
        task = _task_of(record)
        below = limits(task, record.ideal_test, record.ideal_validation)
        verdict = verdict_on(record, below) if below is not None else None
        model = _model(record)
        yield {
            "id": record.id,
            "task": record.task,
            "model": record.model,
            "op": record.op,
            "range": record.range,
            "inputs": record.inputs,
            "seed": record.seed,
            "iterations": record.iterations,
            "outcome": str(verdict.outcome) if verdict else None,
            "threshold": below.test if below else None,
            "chosen_step": int(record.steps[record.chosen]),
            "validation": _finite(record.validation[record.chosen]),
            "test": _finite(record.test[record.chosen]),
            "solved_at": verdict.solved_at if verdict else None,
            "sparsity": record.sparsity,
            "sparsity_with_gates": record.sparsity_with_gates,
            "diverged_at": record.diverged_at if record.diverged_at >= 0 else None,
            "reinitialised": record.reinitialised,
            "weights": _weights(model, record),
            "expression": _expression(model, record) if formulas else None,
            "curve": {
                "steps": record.steps.tolist(),
                "validation": [_finite(error) for error in record.validation],
                "test": [_finite(error) for error in record.test],
            },
            "machine": record.machine,
        }


def _task_of(record: Record) -> RangeTask:
    """The run's task, with what it was made with beside operation, range and inputs."""
    kind: Any = TASKS[record.task]
    known = {field.name for field in fields(kind)} - {"op", "range", "inputs"}
    others = tuple((name, value) for name, value in sorted(record.identity.items()) if name in known)
    return _task(kind, record.op, record.range, record.inputs, others)


@functools.cache
def _task(kind: Any, op: str, range: str, inputs: int, others: tuple[tuple[str, Any], ...]) -> RangeTask:
    made: RangeTask = replace(kind.of(op, range, inputs), **dict(others))
    return made


@functools.cache
def _built(text: str, inputs: int, hidden: int) -> tuple[ModelSpec, nn.Module] | None:
    """The model, or None where it cannot be made any more, such as one from a file that is gone."""
    try:
        spec = ModelSpec.parse(text)
        return spec, spec.build(inputs, 1, hidden=hidden)
    except NalmError:
        return None


def _model(record: Record) -> nn.Module | None:
    """The run's model with the chosen parameters, if its source is still the same."""
    built = _built(record.model, record.inputs, record.identity.get("hidden", 2))
    if built is None or [layer.identity() for layer in built[0].layers] != record.identity["layers"]:
        return None
    model = built[1]
    model.load_state_dict({k: torch.from_numpy(v) for k, v in record.chosen_parameters.items()})
    return model


def _weights(model: nn.Module | None, record: Record) -> dict[str, Any]:
    """Effective weights and gates of the units, by layer where there are several; else raw parameters."""
    units = units_of(model) if model is not None else []
    try:
        found = [{**unit.weights(), **unit.gates()} for unit in units]
    except NotImplementedError:
        found = []
    if not found:
        return {name: _nested(value) for name, value in record.chosen_parameters.items()}
    several = len(found) > 1
    return {
        (f"{layer}.{name}" if several else name): _nested(value.detach().numpy())
        for layer, values in enumerate(found)
        for name, value in values.items()
    }


def _expression(model: nn.Module | None, record: Record) -> str | None:
    if model is None or not units_of(model) or record.diverged_at >= 0:
        return None
    try:
        return str(explain(model, [f"x{k + 1}" for k in range(record.inputs)]))
    except (NalmError, NotImplementedError):
        return None


def _nested(value: np.ndarray) -> Any:
    if value.ndim:
        return [_nested(each) for each in value]
    return _finite(value)


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _name(record: Record) -> str:
    return "+".join(part.partition("(")[0].partition("@")[0] for part in record.model.split("+"))


@functools.cache
def _same_range(stored: str, text: str) -> bool:
    if stored == text:
        return True
    try:
        return parse_pair(stored) == parse_pair(text)
    except NalmError:
        return False
