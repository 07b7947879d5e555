"""A section for each task with networks of its own: a table by set, length or time, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.evaluate.intervals import success_interval
from nalm.experiment.store import Record
from nalm.report.digits.rows import NOTHING, Cell, number
from nalm.report.digits.section import broken
from nalm.report.page_data import seeds_text, when
from nalm.report.set_apart import SetApart
from nalm.report.task_cases import (
    NAMES,
    TaskCase,
    TaskGroup,
    facets_of,
    is_share,
    measured,
    solved,
    task_groups,
    values_of,
)
from nalm.report.task_figures import Read, figures_of
from nalm.tasks import Facet, Task

MOST_COLUMNS = 12
"""A table with more columns leaves out every second or third one, but never the last."""
MOST_FIGURES = 4
"""More figures are shown when asked."""


def task_runs() -> SetApart:
    """Collects the runs of the tasks that have a section each."""
    return SetApart(NAMES)


def task_sections(runs: SetApart, read: Read) -> list[dict[str, Any]]:
    """The sections, for the template; empty without runs.

    Args:
        runs: the runs of their tasks.
        read: reads more of them.
    """
    return [_section(group, read) for group in task_groups(runs)]


def _section(group: TaskGroup, read: Read) -> dict[str, Any]:
    facets = _shown(group.facets)
    labels = list(dict.fromkeys(name for case in group.cases for name in case.others))
    figures = figures_of(group, read)
    records = [run for case in group.cases for run in case.runs]
    return {
        "id": f"of-{group.task.name}",
        "title": group.task.name,
        "about": _about(group.task),
        "meaning": _meaning(group),
        "made": _made(records),
        "labels": labels,
        "headings": [_heading(facet) for facet in facets],
        "rows": [_row(case, label, labels, facets) for case, label in zip(group.cases, group.labels)],
        "figures": figures,
        "lines": not group.task.has_equations,
        "folded": len(figures) > MOST_FIGURES,
    }


def _shown(facets: tuple[Facet, ...]) -> tuple[Facet, ...]:
    every = -(-len(facets) // MOST_COLUMNS)
    return facets[::-1][::every][::-1]


def _heading(facet: Facet) -> str:
    said = [value if isinstance(value, str) else f"{name} {value:,}" for name, value in facet.labels.items()]
    return ", ".join(said)


def _row(case: TaskCase, label: str, labels: list[str], facets: tuple[Facet, ...]) -> dict[str, Any]:
    own = {(facet.curve, facet.index) for facet in facets_of(case)}
    return {
        "op": case.op,
        "name": broken(label),
        "labels": [str(case.others.get(name, NOTHING)) for name in labels],
        "steps": f"{case.runs[0].iterations:,}",
        "runs": f"{len(case.runs):,}",
        "cells": [_cell(case, f) if (f.curve, f.index) in own else Cell(NOTHING) for f in facets],
    }


def _cell(case: TaskCase, facet: Facet) -> Cell:
    """The share of runs that succeed with its interval, the median below it; or the median and quartiles."""
    values = values_of(case, facet)
    if not len(values):
        return Cell(NOTHING)
    low, middle, high = (
        _text(value, facet) for value in np.quantile(values, (0.25, 0.5, 0.75), method="nearest")
    )
    judged = solved(case, facet)
    if not judged:
        return Cell(middle, f"[{low}, {high}]" if len(values) > 1 else "")
    share = success_interval(sum(judged), len(judged))
    return Cell(f"{share.value:.2f}", f"[{share.low:.2f}, {share.high:.2f}]", middle)


def _text(value: float, facet: Facet) -> str:
    return f"{value:.1f}" if is_share(facet) else number(value)


def _about(task: Task) -> str:
    """What the task is: the first line of its class's description."""
    first = (type(task).__doc__ or "").strip().splitlines()[0]
    return first.replace("`inputs`", str(task.in_features)).replace("`", "")


def _meaning(group: TaskGroup) -> str:
    said = "Numbers are those of the step with the lowest validation error."
    what = measured(group.facets[0])
    if any(facet.below is not None for facet in group.facets):
        share = "the share of runs that succeed, with its 95 % interval"
        return f"{said} Each is {share}; below it is the median over the runs ({what})."
    return f"{said} Each is the median over the runs ({what}), with the quartiles."


def _made(records: Sequence[Record]) -> str:
    """Which seeds, and when."""
    seeds = {run.seed for run in records}
    times = sorted(run.computed_at for run in records if run.computed_at)
    return f"Seed{'s' if len(seeds) > 1 else ''} {seeds_text(seeds)}, computed {when(times)}."
