"""Stored runs as plain data: outcome, weights and formula at the chosen step, curves."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nalm.errors import NalmError, unknown
from nalm.evaluate.judged import assess
from nalm.evaluate.outcome import limits
from nalm.experiment.rebuild import effective_weights, formula, task_of
from nalm.experiment.store import BULK, Record, Store, StoreError
from nalm.experiment.stored_cases import WEIGHTS, variant_of
from nalm.tasks.known_ranges import parse_pair


@dataclass(frozen=True)
class Filter:
    """Selects the runs that match one of the values of every given list."""

    unit: Sequence[str] | None = None
    op: Sequence[str] | None = None
    range: Sequence[str] | None = None
    seed: Sequence[int] | None = None

    def matches(self, record: Record) -> bool:
        """Whether a run is selected; a unit matches by its name alone or by the full text of the model."""
        range = record.labels.get("range", "")
        return (
            (self.unit is None or bool({record.model, _name(record)} & set(self.unit)))
            and (self.op is None or record.labels.get("op") in self.op)
            and (self.range is None or any(_same_range(range, text) for text in self.range))
            and (self.seed is None or record.seed in self.seed)
        )

    def check(self, records: Sequence[Record]) -> None:
        """Refuse values that no stored run has."""
        known: dict[str, set[Any]] = {
            "unit": {r.model for r in records} | {_name(r) for r in records},
            "op": {r.labels.get("op") for r in records},
            "seed": {r.seed for r in records},
        }
        for argument, values in known.items():
            for wanted in getattr(self, argument) or ():
                if wanted not in values:
                    raise unknown(argument, str(wanted), sorted(map(str, values)))
        for text in self.range or ():
            ranges = {r.labels.get("range", "") for r in records}
            if not any(_same_range(each, text) for each in ranges):
                raise unknown("range", text, sorted(ranges))


def described_runs(
    path: Path,
    wanted: Filter,
    *,
    formulas: bool = True,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """The stored runs that a filter selects, as plain data.

    Args:
        path: the store.
        wanted: the filter.
        formulas: whether to read each run's formula, which takes about ten milliseconds per run.
        on_progress: called with the number of runs read and the number of all selected runs.
    """
    with _opened(path) as store:
        all_records = list(store.records(without=BULK))
        wanted.check(all_records)
        ids = [record.id for record in all_records if wanted.matches(record)]
        found = []
        for run in _described(store.records(ids), formulas):
            found.append(run)
            on_progress(len(found), len(ids))
        return found


def listed_runs(path: Path, most: int) -> tuple[list[dict[str, Any]], int]:
    """The first runs of a store in short, without weights and curves, and the number of all its runs.

    Args:
        path: the store.
        most: how many runs to list.
    """
    with _opened(path) as store:
        total = store.count()
        return [_listed(record) for record in islice(store.records(without=WEIGHTS), most)], total


def described_run(path: Path, run: str) -> dict[str, Any]:
    """One stored run as plain data, with its weights over time.

    Args:
        path: the store.
        run: the name of the run.
    """
    with _opened(path) as store:
        record = next(store.records([run]), None)
    if record is None:
        raise unknown("run", run, [])
    (found,) = _described(iter([record]), True)
    over_time = effective_weights(record, record.history, [len(record.history_steps)])
    return {
        **found,
        "history_steps": record.history_steps.tolist(),
        "history": {name: _nested(value) for name, value in over_time.items()},
    }


def _opened(path: Path) -> Store:
    if not path.exists():
        raise StoreError(f"{path} does not exist; `nalm bench` creates it.")
    return Store(path, read_only=True)


def _listed(record: Record) -> dict[str, Any]:
    below = limits(task_of(record), record.ideal_test, record.ideal_validation)
    return {
        "id": record.id,
        "task": record.task,
        "model": record.model,
        "labels": record.labels,
        "seed": record.seed,
        "iterations": record.iterations,
        "outcome": str(assess(record, below).outcome) if below is not None else None,
        "test": _finite(record.test[record.chosen]),
    }


def _described(records: Iterator[Record], formulas: bool) -> Iterator[dict[str, Any]]:
    for record in records:
        task = task_of(record)
        below = limits(task, record.ideal_test, record.ideal_validation)
        assessment = assess(record, below) if below is not None else None
        weights = effective_weights(record, record.chosen_parameters)
        yield {
            "id": record.id,
            "task": record.task,
            "model": record.model,
            "variant": list(variant_of(record)),
            "labels": record.labels,
            "op": record.labels.get("op"),
            "range": record.labels.get("range"),
            "inputs": record.labels.get("inputs"),
            "seed": record.seed,
            "iterations": record.iterations,
            "outcome": str(assessment.outcome) if assessment else None,
            "threshold": below.test if below else None,
            "chosen_step": int(record.steps[record.chosen]),
            "validation": _finite(record.validation[record.chosen]),
            "test": _finite(record.test[record.chosen]),
            "solved_at": assessment.solved_at if assessment else None,
            "sparsity": record.sparsity,
            "sparsity_with_gates": record.sparsity_with_gates,
            "diverged_at": record.diverged_at if record.diverged_at >= 0 else None,
            "reinitialised": record.reinitialised,
            "weights": {name: _nested(value) for name, value in weights.items()},
            "expression": formula(record) if formulas else None,
            "curve": {
                "steps": record.steps.tolist(),
                "validation": [_finite(error) for error in record.validation],
                "test": [_finite(error) for error in record.test],
            },
            "cost": {k: _finite(v) if isinstance(v, float) else v for k, v in record.cost.items()} or None,
            "machine": record.machine,
        }


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
