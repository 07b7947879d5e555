"""Tasks by name: those of nalm, and those that installed packages offer.

A package offers a task as an entry point of the group `nalm.tasks`: a class, under the name that the class
has, because runs are stored and found by it. A name of one of nalm's tasks cannot be taken by a package.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from nalm.errors import ArgumentError, unknown
from nalm.models.offered import load, load_each, offered
from nalm.tasks import KINDS, TASKS, RangeTask, Task

GROUP = "nalm.tasks"
"""The group of entry points."""


def task_kind(name: str) -> type[Task]:
    """The class of a task: one of nalm's, or else one that an installed package offers."""
    return KINDS[name] if name in KINDS else _load_offered(name)


def all_tasks() -> tuple[dict[str, type[Task]], list[str]]:
    """Every task by name, and one sentence for each offered task that cannot be used."""
    theirs, faults = load_each(_offered_names(), task_kind)
    return {**TASKS, **theirs}, faults


def source_of(task: Task) -> str | None:
    """A hash of the file that defines a task; None for a task of nalm, or if there is no file.

    The code of a task determines the numbers of its runs. For nalm's tasks NUMERICS_VERSION stands for it.
    """
    if type(task).__module__.partition(".")[0] == "nalm":
        return None
    try:
        file = inspect.getsourcefile(type(task))
    except (OSError, TypeError):  # typed into a console
        return None
    return None if file is None else _digest(file)


@functools.cache
def _digest(file: str) -> str:
    """The hash of a file, read once: imported code does not change when its file does."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _offered_names() -> list[str]:
    """The names that packages offer and that are not names of nalm's tasks."""
    return [name for name in offered(GROUP) if name not in KINDS]


@functools.cache
def _load_offered(name: str) -> type[Task]:
    if name not in _offered_names():
        raise unknown("task", name, [*TASKS, *_offered_names()])
    found = load(GROUP, name, "task")
    if not (inspect.isclass(found) and issubclass(found, Task)):
        raise ArgumentError("task", "a subclass of nalm.tasks.Task", f"{name!r}, which is {found!r}")
    own_name = getattr(found, "name", None)
    if own_name != name:
        expected = f"a class with the name of its entry point, {name!r}"
        raise ArgumentError("task", expected, f"{_where(found)} with the name {own_name!r}")
    if issubclass(found, RangeTask) and not _can_be_made(found):
        expected = "a dataclass with the fields op, range and inputs, of which inputs has a default"
        raise ArgumentError("task", expected, _where(found))
    return found


def _can_be_made(kind: type[RangeTask]) -> bool:
    """Whether `RangeTask.of` can make it."""
    held: dict[str, Any] = {}
    if is_dataclass(kind):
        held = {field.name: field.default for field in fields(kind)}
    return {"op", "range", "inputs"} <= held.keys() and held["inputs"] is not MISSING


def _where(kind: type) -> str:
    return f"{kind.__qualname__} of {kind.__module__}"
