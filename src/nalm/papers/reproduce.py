"""Reproduce a table or figure: train what is missing, measure, and compare with the paper's numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm._version import NUMERICS_VERSION, __version__
from nalm.evaluate.intervals import NOTHING
from nalm.evaluate.judged import Judged
from nalm.experiment.bench import Experiment, compute_missing, make_work, plan_work
from nalm.experiment.executor import Executor, OnProgress
from nalm.experiment.rows import judged_cases, stored_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Record, Store
from nalm.papers.agreement import APART, Agreement, Finding, Reason, compare
from nalm.papers.causes import cause_of
from nalm.papers.entry import Entry, Measured, rows_of
from nalm.papers.metrics import Metric
from nalm.papers.published import Published
from nalm.papers.registry import published_of
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
    executor: Executor,
    on_progress: OnProgress = lambda progress: None,
) -> Measured:
    """Train what is not in the store, and measure. An entry without runs creates no store."""
    return entry.measure(scale, StoreRunner(path, executor, on_progress))


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
    """The JSON of a reproduction: every cell with the paper's number, ours, and the verdict."""
    reduced = list(measured.reduced)
    if scale.rows is not None:
        reduced.append(f"rows: {', '.join(scale.rows)} only")
    return {
        "id": entry.id,
        "title": entry.title,
        "source": entry.source,
        "protocol": "quick" if reduced else "paper",
        "reduced": reduced,
        "note": entry.note,
        "command": scale.command(entry.id),
        "nalm": __version__,
        "numerics_version": NUMERICS_VERSION,
        "cells": [*_numbers(entry, measured), *_claims(entry, measured, scale)],
    }


def _numbers(entry: Entry, measured: Measured) -> Iterator[dict[str, Any]]:
    """Cells of the main metrics, and of the others where the paper has a number."""
    found, published = measured.findings, published_of(entry.id)
    for row, column in rows_of(found):
        for place, metric in enumerate(entry.metrics):
            theirs = published.get((row, column, metric.name))
            if (row, column, metric.name) in found and (place < entry.main or theirs is not None):
                yield _number(entry, row, column, metric, theirs, measured)


def _number(
    entry: Entry, row: str, column: str, metric: Metric, theirs: Published | None, measured: Measured
) -> dict[str, Any]:
    ours = measured.findings[row, column, metric.name]
    paper = theirs.interval() if theirs is not None else NOTHING
    reason = Reason.PROTOCOL if measured.reduced else entry.reason(row, column)
    if theirs is None:
        verdict = Agreement.UNPUBLISHED
    elif reason is not None:
        verdict = Agreement.NOT_COMPARABLE
    else:
        verdict = compare(paper, ours, rising=metric.rising)
    name = f"{column}: {metric.label}" if metric.label else column
    return _cell(
        entry,
        row,
        name,
        kind=theirs.kind if theirs is not None else "number",
        metric=metric.name,
        paper=paper.value,
        paper_low=paper.low,
        paper_high=paper.high,
        paper_n=theirs.n if theirs is not None else None,
        ours=ours,
        verdict=verdict,
        reason=reason if verdict is Agreement.NOT_COMPARABLE else None,
    )


def _claims(entry: Entry, measured: Measured, scale: Scale) -> Iterator[dict[str, Any]]:
    """The paper's claims as cells: 1 is true, 0 is false. None if only some rows are asked for."""
    for claim in entry.claims if scale.rows is None else ():
        holds = claim.check(measured.findings)
        verdict = Agreement.AGREES if holds else Agreement.DIFFERS
        seeds = max((finding.n for finding in measured.findings.values()), default=0)
        reason = Reason.PROTOCOL if measured.reduced else None
        yield _cell(
            entry,
            claim.row,
            claim.text,
            kind="claim",
            metric=None,
            paper=1.0,
            paper_low=None,
            paper_high=None,
            paper_n=None,
            ours=Finding(float(holds), None, None, seeds),
            verdict=verdict if reason is None else Agreement.NOT_COMPARABLE,
            reason=reason,
        )


def _cell(
    entry: Entry,
    row: str,
    column: str,
    *,
    ours: Finding,
    verdict: Agreement,
    reason: Reason | None,
    **paper: Any,
) -> dict[str, Any]:
    return {
        "row": row,
        "column": column,
        **paper,
        "ours": ours.value,
        "low": ours.low,
        "high": ours.high,
        "n": ours.n,
        "verdict": str(verdict),
        "reason": None if reason is None else str(reason),
        "cause": cause_of(entry.id, row, column) if verdict in APART else None,
    }
