"""Everything in a store, cell by cell: runs that differ in their seed alone, judged together."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nalm.errors import NalmError
from nalm.evaluate.outcome import limits
from nalm.experiment.bench import Judged, summary_row, verdict_on
from nalm.experiment.restore import spec_of, task_of
from nalm.experiment.run import Cell, make_identity
from nalm.experiment.store import Record
from nalm.tasks import RangeTask
from nalm.training.recipe import Recipe
from nalm.training.steps import STEP_NAMES


@dataclass(frozen=True)
class StoredCell:
    """The stored runs of a model on a task.

    Attributes:
        task: the task.
        model: the model as it was written on the command line.
        runs: the runs in the order of their seeds.
        variant: how the runs differ from what these words stand for today, such as `hidden=10`; empty for
            the model's own recipe and steps.
    """

    task: RangeTask
    model: str
    runs: tuple[Judged, ...]
    variant: tuple[str, ...]

    @property
    def identity(self) -> dict[str, Any]:
        """What determines the numbers of its runs beside their seeds."""
        return self.runs[0].record.identity

    def row(self) -> dict[str, Any]:
        """The measures of the cell, as in the JSON of a benchmark."""
        return summary_row(self.task, self.runs[0].record.iterations, self.runs)


def stored_cells(records: Iterable[Record]) -> list[StoredCell]:
    """Cells in the order of their first runs; runs that no threshold can judge are left out."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for record in records:
        below = limits(task_of(record), record.ideal_test, record.ideal_validation)
        if below is not None:
            key = (record.model, json.dumps(record.identity, sort_keys=True))
            groups.setdefault(key, []).append(Judged(record, below, verdict_on(record, below)))
    return [_cell(model, runs) for (model, _), runs in groups.items()]


def _cell(model: str, runs: list[Judged]) -> StoredCell:
    first = runs[0].record
    ordered = tuple(sorted(runs, key=lambda run: run.record.seed))
    return StoredCell(task_of(first), model, ordered, differences(first.identity, _usual(first)))


def _usual(record: Record) -> dict[str, Any]:
    """What the words of a record stand for today.

    Where nobody knows, because the model's file is gone or it has no recipe for the operation, it is the
    plain recipe and no source: then all that is special about the run is told.
    """
    spec, task = spec_of(record.model), task_of(record)
    if spec is not None:
        with contextlib.suppress(NalmError):
            return Cell(spec, task).identity
    layers = [{k: v for k, v in layer.items() if k != "source"} for layer in record.identity["layers"]]
    return make_identity(task, layers, Recipe())


def variant_of(record: Record) -> tuple[str, ...]:
    """How a run differs from what its words stand for today; empty for the model's own recipe and steps."""
    text = json.dumps(record.identity, sort_keys=True)
    if (record.model, text) not in _VARIANTS:
        _VARIANTS[record.model, text] = differences(record.identity, _usual(record))
    return _VARIANTS[record.model, text]


_VARIANTS: dict[tuple[str, str], tuple[str, ...]] = {}


def differences(identity: dict[str, Any], usual: dict[str, Any]) -> tuple[str, ...]:
    """Where an identity differs from the usual one, as short texts such as `optimiser.learning_rate=0.01`."""
    ours, theirs = _leaves(identity), _leaves(usual)
    texts: dict[str, str] = {}
    for path in [*ours, *(p for p in theirs if p not in ours)]:
        kind, text = ours.get(path, ("", ""))
        # What is inside a thing of another kind has been told with it.
        if kind != theirs.get(path, ("",))[0] and not any(path.startswith(f"{above}.") for above in texts):
            texts[path] = f"{path}={text}" if path in ours else f"no {path}"
    if scaled := _scaled_steps(ours, theirs):
        told = tuple(text for path, text in texts.items() if path not in scaled)
        return (*told, "schedules scaled")
    return tuple(texts.values())


def _scaled_steps(ours: _Leaves, theirs: _Leaves) -> set[str]:
    """The steps of a recipe, if fewer steps shortened all of them in proportion; else nothing."""
    steps = {path for path in ours if path in theirs and path.rpartition(".")[2] in STEP_NAMES}
    steps &= {path for path in steps if _is_number(ours[path][1]) and _is_number(theirs[path][1])}
    if not steps or "iterations" not in ours.keys() & theirs.keys():
        return set()
    part = float(ours["iterations"][1]) / float(theirs["iterations"][1])
    pairs = [(float(ours[path][1]), float(theirs[path][1])) for path in steps]
    return steps if part < 1 and all(math.isclose(a, b * part, rel_tol=1e-9) for a, b in pairs) else set()


def _is_number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return math.isfinite(float(text))
    return False


_Leaves = dict[str, tuple[str, str]]
"""By path: what two things must have in common to be compared by their parts, and the whole as text."""


def _leaves(identity: dict[str, Any]) -> _Leaves:
    found: _Leaves = {}
    for name, value in identity.items():
        if name == "recipe":
            found |= _recipe_leaves(value)
        elif name == "layers":
            for k, layer in enumerate(value):
                texts = {f"layer {k + 1}.{key}": _layer_text(key, part) for key, part in layer.items()}
                found |= {path: (text, text) for path, text in texts.items()}
        else:
            text = json.dumps(value, sort_keys=True)
            found[name] = (text, text)
    return found


def _layer_text(key: str, part: Any) -> str:
    return hashlib.sha256(part.encode()).hexdigest()[:8] if key == "source" else json.dumps(part)


@functools.lru_cache(maxsize=1024)
def _recipe_leaves(text: str) -> _Leaves:
    """The parts of a recipe, from the text that is stored."""
    found: _Leaves = {}

    def walk(node: ast.expr, path: str) -> None:
        if isinstance(node, ast.Call):
            if path:
                found[path] = (ast.unparse(node.func), ast.unparse(node))
            for word in node.keywords:
                walk(word.value, f"{path}.{word.arg}" if path else str(word.arg))
        elif isinstance(node, ast.Tuple):
            for k, part in enumerate(node.elts):
                walk(part, f"{path}.{k + 1}")
        else:
            found[path] = (ast.unparse(node), ast.unparse(node))

    walk(ast.parse(text, mode="eval").body, "")
    return found
