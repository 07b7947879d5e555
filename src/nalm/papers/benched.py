"""Adds the papers' success rates for the same task, range, protocol and steps to the rows of a benchmark."""

from __future__ import annotations

from typing import Any

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.beside import published_for


def has_own_units(experiment: Experiment) -> bool:
    """Whether one of the models is a user's own unit."""
    return any(case.model.is_users for case in experiment.cases)


def with_published(result: dict[str, Any], experiment: Experiment, *, wanted: bool) -> dict[str, Any]:
    """The JSON of a benchmark with `published` in every row: a list of rates, or null if they are not wanted.

    Args:
        result: the JSON of the benchmark.
        experiment: what was run; its cases are the rows, or several rows each if their task has facets.
        wanted: look for rates, which takes a second; runs must be judged by their tasks' own thresholds.
    """
    cases = [case for case in experiment.cases for _ in range(len(case.task.facets()) or 1)]
    pairs = list(zip(result["rows"], cases, strict=True))
    rows = [{**row, "published": _rates(case) if wanted else None} for row, case in pairs]
    others = sorted({steps for case in experiment.cases for steps in _other_steps(case)} if wanted else ())
    if others and not any(row["published"] for row in rows):
        steps = " or ".join(f"{steps:,}" for steps in others)
        note = f"Papers have numbers for these tasks, but for {steps} steps: they are not put beside."
        return {**result, "rows": rows, "notes": [*result["notes"], note]}
    return {**result, "rows": rows}


def _rates(case: Case) -> list[dict[str, Any]]:
    if not _is_comparable(case):
        return []
    return [rate.row() for rate in published_for(case.task, case.recipe.iterations)]


def _other_steps(case: Case) -> set[int]:
    if not _is_comparable(case):
        return set()
    return {rate.iterations for rate in published_for(case.task)} - {case.recipe.iterations}


def _is_comparable(case: Case) -> bool:
    """Whether it is trained like the papers' units: by the engine, with the default hidden size."""
    return case.recipe.trainer == "engine" and case.hidden == Case.hidden
