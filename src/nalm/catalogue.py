"""What there is, as plain data for the command line and its JSON: units, tasks, ranges, papers, machine."""

from __future__ import annotations

import inspect
import os
import platform
from dataclasses import asdict, fields
from typing import Any

import torch
from torch import nn

from nalm._version import NUMERICS_VERSION, __version__
from nalm.engine.cache import cache_folder, is_writable
from nalm.engine.compiler import cpp_compiler
from nalm.errors import ArgumentError
from nalm.models import user_units
from nalm.papers import PAPERS
from nalm.tasks import OPERATIONS, RANGE_SETS, RANGES, TASKS, TEST_RANGES, RangeTask, SingleModule, Split
from nalm.units import UNITS, Unit, unit_class
from nalm.units._base import COMMON_RECIPES

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
    """Everything that is known about a unit: its equation, options, operations, recipes, papers.

    Args:
        name: a unit's name, or that of a user's own class, as in `./mine.py:MyUnit`. Of a plain `nn.Module`
            neither operations nor recipes are known.
    """
    unit, found = _class_of(name)
    try:
        row = _unit_row(unit) if issubclass(unit, Unit) else _plain_row(unit)
        recipes = _recipes(unit) if issubclass(unit, Unit) else {}
    except Exception as error:  # a user's `make_recipe` may raise anything
        if found is None:
            raise
        raise ArgumentError(
            "unit", "one whose recipes can be made", user_units.failure(error, found)
        ) from error
    published = recipes.pop("published", {})
    return {
        **row,
        "name": name,
        "source": None if found is None else str(found.file),
        "description": inspect.getdoc(inspect.getmodule(unit)) or _own_words(unit),
        "options": _options(unit),
        "arguments": _own_words(unit),
        "published_recipes": published,
        "other_recipes": recipes,
        "citations": [asdict(PAPERS[key]) for key in row["papers"] if key in PAPERS],
        "thresholds": {
            op: {r: SingleModule(op, r).threshold(Split.TEST) for r in TEST_RANGES}
            for op in row["ops"]
            if op in OPERATIONS
        },
    }


def _own_words(unit: type[nn.Module]) -> str:
    """What a class says of itself; what it inherits from torch is about something else."""
    return inspect.cleandoc(unit.__doc__) if unit.__doc__ and unit.__doc__ != nn.Module.__doc__ else ""


def _class_of(name: str) -> tuple[type[nn.Module], user_units.OwnUnit | None]:
    """The class of this name, and where it comes from if it is a user's or a package's."""
    if user_units.is_file(name):
        found = user_units.load_file(name)
    elif name not in UNITS and name in user_units.offered():
        found = user_units.load_offered(name)
    else:
        return unit_class(name), None
    return found.kind, found


def _recipes(unit: type[Unit]) -> dict[str, dict[str, str]]:
    """All recipes of a unit in words, by their names and by operation."""
    ops = getattr(unit, "ops", ())
    return {name: {op: repr(unit.recipe(op, name)) for op in ops} for name in unit.all_recipes()}


def machine() -> dict[str, Any]:
    """What the numbers of a run may depend on, and what speed depends on."""
    found = cpp_compiler()
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
        "ops": list(getattr(unit, "ops", ())),
        "recipes": list(unit.all_recipes()),
        "papers": list(unit.papers),
        "summary": _summary(unit),
    }


def _plain_row(module: type[nn.Module]) -> dict[str, Any]:
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


def _options(kind: type[nn.Module]) -> dict[str, Any]:
    """Options and their defaults: what is neither a size nor common to all units."""
    parameters = list(inspect.signature(kind).parameters.values())
    common = inspect.signature(Unit).parameters if issubclass(kind, Unit) else {}
    empty = inspect.Parameter.empty
    named = [p for p in parameters[2:] if p.name not in common and p.kind is not p.VAR_KEYWORD]
    return {p.name: None if p.default is empty else p.default for p in named}


def _summary(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]
