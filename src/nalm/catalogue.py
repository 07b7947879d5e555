"""What there is, as plain data for the command line and its JSON: units, tasks, ranges, papers, machine."""

from __future__ import annotations

import inspect
import os
import platform
from dataclasses import asdict, fields
from typing import Any

import torch

from nalm._version import NUMERICS_VERSION, __version__
from nalm.papers import PAPERS
from nalm.tasks import OPERATIONS, RANGE_SETS, RANGES, TASKS, TEST_RANGES, RangeTask, SingleModule, Split
from nalm.training.program import cache_folder, compiler, is_writable
from nalm.units import UNITS, Unit, unit_class

KINDS = ("units", "tasks", "ranges", "papers")


def listing(kind: str) -> list[dict[str, Any]]:
    """All entries of a kind."""
    if kind == "units":
        return [_unit_row(unit) for unit in UNITS.values()]
    if kind == "tasks":
        return [_task_row(task) for task in TASKS.values()]
    if kind == "ranges":
        return [
            {
                "name": name,
                "set": group,
                "train": RANGES[name][0].segments,
                "test": RANGES[name][1].segments,
                "written": "=>".join(map(str, RANGES[name])),
            }
            for group, names in RANGE_SETS.items()
            for name in names
        ]
    return [asdict(paper) for paper in PAPERS.values()]


def unit_page(name: str) -> dict[str, Any]:
    """Everything about a unit: its equation, options, operations, recipes, papers."""
    unit = unit_class(name)
    module = inspect.getdoc(inspect.getmodule(unit)) or ""
    return {
        **_unit_row(unit),
        "description": module,
        "options": _options(unit),
        "arguments": inspect.getdoc(unit) or "",
        "published_recipes": {op: repr(unit.recipe(op)) for op in unit.ops},
        "other_recipes": {
            name: {op: repr(unit.recipe(op, name)) for op in unit.ops}
            for name in unit.all_recipes()
            if name != "published"
        },
        "citations": [asdict(PAPERS[key]) for key in unit.papers],
        "thresholds": {
            op: {r: SingleModule(op, r).threshold(Split.TEST) for r in TEST_RANGES}
            for op in unit.ops
            if op in OPERATIONS
        },
    }


def machine() -> dict[str, Any]:
    """What the numbers of a run may depend on, and what speed depends on."""
    found = compiler()
    return {
        "nalm": __version__,
        "numerics_version": NUMERICS_VERSION,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cpu": platform.machine(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cores": cores(),
        "compiler": found,
        "mode": "compiled" if found else "eager",
        "cache": str(cache_folder()),
        "cache_writable": is_writable(cache_folder()),
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _unit_row(unit: type[Unit]) -> dict[str, Any]:
    return {
        "name": unit.name,
        "class": unit.__name__,
        "ops": list(unit.ops),
        "recipes": list(unit.all_recipes()),
        "papers": list(unit.papers),
        "summary": _summary(unit),
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


def _options(unit: type[Unit]) -> dict[str, Any]:
    parameters = inspect.signature(unit).parameters
    common = inspect.signature(Unit).parameters
    return {name: p.default for name, p in parameters.items() if name not in common}


def _summary(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]
