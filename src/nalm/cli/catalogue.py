"""The catalogue as plain data: one row per unit, task, range and paper."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import Any

from torch import nn

from nalm.models.composites import COMPOSITES
from nalm.models.offered import load_each
from nalm.models.user_units import load_offered, offered_names
from nalm.papers import PAPERS
from nalm.tasks import RANGE_SETS, RANGES, RangeTask, Task
from nalm.tasks.registry import all_tasks
from nalm.units import UNITS, Unit
from nalm.units._base import COMMON_RECIPES

KINDS = ("units", "tasks", "ranges", "papers")
Rows = list[dict[str, Any]]


def listing(kind: str) -> tuple[Rows, list[str]]:
    """All entries of a kind, and a sentence for each that a package offers and that cannot be used."""
    if kind == "units":
        return _unit_rows()
    if kind == "tasks":
        tasks, faults = all_tasks()
        return [_task_row(task) for task in tasks.values()], faults
    if kind == "ranges":
        return [_range_row(name, group) for group, names in RANGE_SETS.items() for name in names], []
    return [asdict(paper) for paper in PAPERS.values()], []


def _unit_rows() -> tuple[Rows, list[str]]:
    """Our units, those made of units, and those that packages offer, by the names they are offered under."""
    known = {**UNITS, **COMPOSITES}
    theirs, faults = load_each((name for name in offered_names() if name not in known), load_offered)
    ours = [unit_row(unit) for unit in known.values()]
    return ours + [{**row_of(found.kind), "name": name} for name, found in theirs.items()], faults


def row_of(module: type[nn.Module]) -> dict[str, Any]:
    """A unit or a plain module in short."""
    return unit_row(module) if issubclass(module, Unit) else plain_row(module)


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


def _task_row(task: type[Task]) -> dict[str, Any]:
    """A task in short."""
    return {
        "name": task.name,
        "ops": list(task.ops),
        "inputs": _usual_inputs(task),
        "ranges": list(getattr(task, "ranges", ())),
        "models": list(task.models),
        "summary": _summary(task),
    }


def _usual_inputs(task: type[Task]) -> int | None:
    """The number of inputs of a task; one that is not about ranges has no usual one."""
    return task.of(task.ops[0], task.ranges[0]).inputs if issubclass(task, RangeTask) else None


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
