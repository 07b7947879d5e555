"""Figures of a task's section: by length, digits or time; or error against the number of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from nalm.experiment.store import Record
from nalm.report.axes import Axes, Figure, Scale, around, decades
from nalm.report.digits.rows import number
from nalm.report.lines import add_line, add_symbol, key_of
from nalm.report.task_cases import TaskCase, TaskGroup, is_share, measured, values_of
from nalm.tasks import Facet

Read = Callable[[Sequence[str], Sequence[str]], Iterable[Record]]
"""Reads runs by their names, with these bulky columns besides their curves."""
_FEWEST = 3
"""Fewer points are no line."""
_LEAST = 1e-12
"""Smaller errors are drawn here: a logarithm has no zero."""
_COUNTS = 1e-3
"""A parameter with a smaller magnitude does not count, as in Heim et al. 2020."""
_FAR = 50
"""From this ratio of its ends on, an axis is logarithmic."""


def figures_of(group: TaskGroup, read: Read) -> list[dict[str, Any]]:
    """A figure for each operation, with the key to its lines; none if nothing can be drawn."""
    draw = partial(_by_size, read) if group.task.has_equations else _by_facet
    found = (draw(group, op) for op in dict.fromkeys(case.op for case in group.cases))
    return [figure for figure in found if figure is not None]


# -- a line per model, along the facets ---------------------------------------------------------------


def _by_facet(group: TaskGroup, op: str) -> dict[str, Any] | None:
    named = group.of_op(op)
    facets = along(named[0][0].task.facets())
    if len(facets) < _FEWEST:
        return None
    drawn = ((label, _drawn(case, facets)) for case, label in named)
    lines = {label: values for label, values in drawn if values is not None}
    if not lines:
        return None
    (axis,) = facets[0].labels
    places = [int(facet.labels[axis]) for facet in facets]
    axes = Axes(_across(places), _up(facets[0], [*lines.values()]), (axis, measured(facets[0])))
    for k, (label, values) in enumerate(lines.items()):
        add_line(axes, k, places, values, partial(_told, label, axis, places))
    said = "; ".join(f"{label} {_ends(values)}" for label, values in lines.items())
    drawing = axes.drawing(f"{measured(facets[0])} from {axis} {places[0]} to {places[-1]:,}: {said}.")
    return {"figure": Figure(f"{op}: {measured(facets[0])} by {axis}", drawing), "key": key_of([*lines])}


def along(facets: Sequence[Facet]) -> list[Facet]:
    """The facets in the order of their only label; none if they have several, or it is no number."""
    if not all(len(f.labels) == 1 and isinstance(next(iter(f.labels.values())), int) for f in facets):
        return []
    return sorted(facets, key=lambda facet: int(next(iter(facet.labels.values()))))


def _drawn(case: TaskCase, facets: Sequence[Facet]) -> np.ndarray | None:
    """What is drawn of a case, `facets x runs`; None if some of it was not measured."""
    found = [values_of(case, facet) for facet in facets]
    if not all(len(values) == len(case.runs) for values in found):
        return None
    return np.array(found) if is_share(facets[0]) else np.maximum(found, _LEAST)


def _across(places: Sequence[int]) -> Scale:
    if max(places) > _FAR * min(places):
        return Scale(*decades(places), log=True)
    return Scale(*around(places), whole=True)


def _up(facet: Facet, lines: Sequence[np.ndarray]) -> Scale:
    if is_share(facet):
        return Scale(0, 105)
    finite = np.concatenate([values[np.isfinite(values)] for values in lines])
    return Scale(*decades([*finite] or [1.0]), log=True)


def _told(label: str, axis: str, places: Sequence[int], j: int, value: float) -> str:
    return f"{label}, {axis} {places[j]:,}: {number(value)}"


def _ends(values: np.ndarray) -> str:
    first, last = (number(float(np.median(values[k]))) for k in (0, -1))
    return f"from {first} to {last}"


# -- error against the number of parameters --------------------------------------------------------------


def _by_size(read: Read, group: TaskGroup, op: str) -> dict[str, Any] | None:
    """A point per run: how many parameters it has, and its error on the test set."""
    points = {label: _points(case, read) for case, label in group.of_op(op)}
    held = [point for found in points.values() for point in found]
    if not held:
        return None
    sizes, errors = [size for size, _ in held], [error for _, error in held]
    across, up = Scale(*around(sizes), whole=True), Scale(*decades(errors), log=True)
    axes = Axes(across, up, ("parameters above 0.001", "test error"))
    for k, (label, found) in enumerate(points.items()):
        for size, error in found:
            add_symbol(axes, k, size, error, f"{label}: {size} parameters, {number(error)}")
    drawing = axes.drawing(f"{len(held)} runs of {min(sizes)} to {max(sizes)} parameters.")
    return {"figure": Figure(f"{op}: error by number of parameters", drawing), "key": key_of([*points])}


def _points(case: TaskCase, read: Read) -> list[tuple[int, float]]:
    """The number of parameters and the error of each run whose error is finite."""
    whole = read([run.id for run in case.runs], ("chosen_parameters",))
    sizes = {run.id: _size(run.chosen_parameters) for run in whole}
    found = ((sizes[run.id], float(run.test.item(0))) for run in case.runs)
    return [(size, max(error, _LEAST)) for size, error in found if np.isfinite(error)]


def _size(parameters: Mapping[str, np.ndarray]) -> int:
    return sum(int((np.abs(p) > _COUNTS).sum()) for p in parameters.values())
