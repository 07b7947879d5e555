"""The catalogue as plain data: one row per unit, task, range and paper."""

from __future__ import annotations

import inspect
from dataclasses import asdict, fields
from typing import Any

from torch import nn

from nalm.papers import PAPERS
from nalm.tasks import RANGE_SETS, RANGES, TASKS, RangeTask
from nalm.units import UNITS, Unit
from nalm.units._base import COMMON_RECIPES

KINDS = ("units", "tasks", "ranges", "papers")


def listing(kind: str) -> list[dict[str, Any]]:
    """All entries of a kind."""
    if kind == "units":
        return [unit_row(unit) for unit in UNITS.values()]
    if kind == "tasks":
        return [_task_row(task) for task in TASKS.values()]
    if kind == "ranges":
        return [_range_row(name, group) for group, names in RANGE_SETS.items() for name in names]
    return [asdict(paper) for paper in PAPERS.values()]


def unit_row(unit: type[Unit]) -> dict[str, Any]:
    """A unit in one row."""
    return {
        "name": unit.name,
        "class": unit.__name__,
        "ops": list(getattr(unit, "ops", ())),
        "recipes": list(unit.all_recipes()),
        "papers": list(unit.papers),
        "summary": _summary(unit),
    }


def plain_row(module: type[nn.Module]) -> dict[str, Any]:
    """A plain module in one row; its operations and papers are not known."""
    return {
        "name": module.__name__,
        "class": module.__name__,
        "ops": [],
        "recipes": ["published", *COMMON_RECIPES],
        "papers": [],
        "summary": _summary(module),
    }


def _task_row(task: type[RangeTask]) -> dict[str, Any]:
    inputs = next(field.default for field in fields(task) if field.name == "inputs")  # type: ignore[arg-type]
    return {
        "name": task.name,
        "ops": list(task.ops),
        "inputs": inputs,
        "ranges": list(task.ranges),
        "models": list(task.models),
        "summary": _summary(task),
    }


def _range_row(name: str, group: str) -> dict[str, Any]:
    train, test = RANGES[name]
    return {
        "name": name,
        "set": group,
        "train": train.segments,
        "test": test.segments,
        "written": f"{train}=>{test}",
    }


def _summary(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]
