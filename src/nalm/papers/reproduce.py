"""Reproduce a table or figure: train what is missing, measure, and compare with the paper's numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from nalm._version import NUMERICS_VERSION, __version__
from nalm.errors import NalmError
from nalm.evaluate.judged import Judged
from nalm.experiment.bench import Experiment, compute_missing, make_work, plan_work
from nalm.experiment.executor import Executor, OnProgress
from nalm.experiment.rows import judged_cases, stored_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Record, Store
from nalm.papers.agreement import Finding
from nalm.papers.budget import FewerRuns
from nalm.papers.cells import cells_of
from nalm.papers.claims import Findings
from nalm.papers.entry import Entry, Grid, Measured
from nalm.papers.scale import Scale


def plan(entry: Entry, scale: Scale, path: Path, processes: int) -> dict[str, Any]:
    """The numbers of missing and stored runs, and the estimated seconds; None for an entry without runs."""
    works = [plan_work(experiment, path, processes) for experiment in entry.experiments(scale)]
    return {
        "id": entry.id,
        "computed_runs": sum(work.missing for work in works) if works else None,
        "stored_runs": sum(work.stored for work in works) if works else None,
        "estimated_seconds": sum(work.estimate(processes) for work in works) if works else None,
    }


def measure(
    entry: Entry,
    scale: Scale,
    path: Path,
    executor: Executor | None,
    on_progress: OnProgress = lambda progress: None,
) -> Measured:
    """Train what is not in the store, and measure. An entry without runs creates no store.

    Args:
        entry: the entry.
        scale: how much of the paper's protocol to run.
        path: the store.
        executor: computes what is missing; None to measure only what is stored.
        on_progress: called as runs progress.
    """
    if executor is None:
        return measure_stored(entry, scale, path)
    return entry.measure(scale, StoreRunner(path, executor, on_progress))


def measure_stored(entry: Entry, scale: Scale, path: Path) -> Measured:
    """Measure what is in the store so far, and train nothing; only some entries can be measured in part."""
    planned = plan(entry, scale, path, 1)
    if planned["stored_runs"] == 0:
        raise NalmError(f"No run of {entry.id} is stored in {path}.")
    if not entry.in_parts and (missing := planned["computed_runs"]):
        raise NalmError(f"{missing} runs of {entry.id} are not stored, and it cannot be measured in part.")
    return entry.measure(scale, StoredRunner(path))


@dataclass(frozen=True)
class StoredRunner:
    """Reads the runs that are in a store, and trains none.

    Attributes:
        path: the store.
    """

    path: Path

    def __call__(
        self, experiment: Experiment, threshold: float | None, *, curves_only: bool = True
    ) -> dict[Case, list[Judged]]:
        """The stored runs of each case, judged."""
        with Store(self.path) as store:
            return dict(judged_cases(experiment, store, threshold, curves_only=curves_only, partly=True))

    def records(self, experiment: Experiment) -> dict[Case, list[Record]]:
        """The stored runs of each case, with their weights."""
        with Store(self.path) as store:
            return dict(stored_runs(experiment, store, curves_only=False, partly=True))


@dataclass(frozen=True)
class StoreRunner:
    """Trains runs that are not in a store, and reads all runs from it.

    Attributes:
        path: the store.
        executor: computes the runs.
        on_progress: called as runs progress.
    """

    path: Path
    executor: Executor
    on_progress: OnProgress

    def __call__(
        self, experiment: Experiment, threshold: float | None, *, curves_only: bool = True
    ) -> dict[Case, list[Judged]]:
        """The runs of each case, judged by the task's threshold or the given one; with weights if wanted."""
        with self._filled(experiment) as store:
            return dict(judged_cases(experiment, store, threshold, curves_only=curves_only))

    def records(self, experiment: Experiment) -> dict[Case, list[Record]]:
        """The stored runs of each case, with their weights."""
        with self._filled(experiment) as store:
            return dict(stored_runs(experiment, store, curves_only=False))

    @contextlib.contextmanager
    def _filled(self, experiment: Experiment) -> Iterator[Store]:
        with Store(self.path) as store:
            compute_missing(
                make_work(experiment, store, self.executor.size), store, self.executor, self.on_progress
            )
            yield store


def result_of(entry: Entry, measured: Measured, scale: Scale) -> dict[str, Any]:
    """The JSON of a reproduction: what was measured, and every cell with its verdict."""
    notes = [f"rows: {', '.join(scale.rows)} only"] if scale.rows is not None else []
    return {
        "id": entry.id,
        "title": entry.title,
        "source": entry.source,
        "protocol": "paper" if measured.comparable else "quick",
        "reduced": [*measured.reduced, *notes],
        "note": entry.note,
        "command": scale.command(entry.id),
        "nalm": __version__,
        "numerics_version": NUMERICS_VERSION,
        "compute": _compute(entry, measured, scale),
        "cells": cells_of(entry, measured, claims=scale.rows is None),
        "findings": [[*key, *astuple(finding)] for key, finding in measured.findings.items()],
    }


def rejudged(entry: Entry, result: dict[str, Any]) -> dict[str, Any]:
    """A result with the verdicts, published numbers and causes of today, from what was measured then."""
    reduced = [note if result["protocol"] == "quick" else FewerRuns(note) for note in result["reduced"]]
    found = {tuple(key): Finding(*values) for *key, values in _keyed(result["findings"])}
    some_rows = any(note.startswith("rows: ") for note in reduced)
    partial = any(note.startswith("cells: ") for note in reduced)
    measured = Measured(Findings(found), reduced, partial=partial)
    about = {"title": entry.title, "source": entry.source, "note": entry.note}
    return {**result, **about, "cells": cells_of(entry, measured, claims=not some_rows)}


def _keyed(findings: list[list[Any]]) -> Iterator[list[Any]]:
    """Row, column, metric, and the fields of a finding."""
    return ([*each[:3], each[3:]] for each in findings)


def _compute(entry: Entry, measured: Measured, scale: Scale) -> dict[str, Any]:
    """The runs behind a result and their steps; None where it trains nothing."""
    if isinstance(entry, Grid):  # its cells may have different numbers of seeds
        main, found = entry.metrics[0].name, measured.findings
        held = [place for place in entry.places_at(scale) if (place.row, place.column, main) in found]
        pairs = [(found[p.row, p.column, main].n, p.cases[0].recipe.iterations) for p in held]
    else:
        pairs = [
            (each.seeds, case.recipe.iterations) for each in entry.experiments(scale) for case in each.cases
        ]
    runs, steps = sum(n for n, _ in pairs), sum(n * steps for n, steps in pairs)
    if measured.runs is not None and runs:
        runs, steps = measured.runs, round(steps * measured.runs / runs)
    return {"runs": runs or None, "run_steps": steps or None, "cpu_seconds": None}
