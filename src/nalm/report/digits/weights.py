"""The weights of a unit over training: whether they end at -1, 0 and 1, and the path of two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.experiment.rebuild import effective_weights, spec_of
from nalm.experiment.store import Record
from nalm.report.axes import Axes, Figure, Scale, around, shape
from nalm.tasks.digits._base import DigitTask

EXACT = 1e-6
"""Weights this close to -1, 0 or 1 are exact, as far as single precision tells."""
MOST_PATHS = 25
"""How many runs of a model are drawn: those with the lowest seeds."""
_TARGETS = {"mul": (1.0, 1.0), "add": (1.0, 1.0), "div": (1.0, -1.0)}
"""The weights that compute an operation."""
_MATRIX = "W"
"""The name of a unit's matrix of weights."""


@dataclass(frozen=True)
class RunWeights:
    """The weights of a run.

    Attributes:
        seed: its seed.
        exact: whether all weights and gates are exact at the end; None for a model without units, and if
            they were not kept.
        path: the two weights of the unit over time, `points x 2`; None if it has another number of them.
    """

    seed: int
    exact: bool | None = None
    path: np.ndarray | None = None


def run_weights(record: Record) -> RunWeights:
    """The weights of a run, from its parameters over time."""
    spec = spec_of(record.model)
    if spec is None or not spec.made_of_units or not record.history:
        return RunWeights(record.seed)
    values = effective_weights(record, record.history, (len(record.history_steps),))
    as_stored = {id(value) for value in record.history.values()}
    if any(id(value) in as_stored for value in values.values()):
        return RunWeights(record.seed)  # parameters that no unit has turned into weights
    exact = all(bool((_distance(value[-1]) <= EXACT).all()) for value in values.values())
    return RunWeights(record.seed, exact, _path(values.get(_MATRIX)))


def _distance(weights: np.ndarray) -> np.ndarray:
    """How far each weight is from the nearest of -1, 0 and 1."""
    return np.abs(weights - np.clip(np.rint(np.nan_to_num(weights)), -1, 1))


def _path(weights: np.ndarray | None) -> np.ndarray | None:
    if weights is None or weights[0].size != 2:
        return None
    points = weights.reshape(-1, 2).astype(float)
    return points[np.isfinite(points).all(1)]


def path_figure(task: DigitTask, label: str, runs: Sequence[RunWeights]) -> Figure | None:
    """The paths of the two weights, one per run, from a ring to a dot; None if there are none."""
    drawn = [(run.seed, run.path) for run in runs if run.path is not None and len(run.path)][:MOST_PATHS]
    target = _TARGETS.get(task.op)
    if not drawn or target is None:
        return None
    low, high = around([*target, 0.0, *(bound for _, path in drawn for bound in (path.min(), path.max()))])
    axes = Axes(Scale(low, high), Scale(low, high), _names(task), 1.0)
    axes.add(shape("path", {"class": "target", "d": _cross(*axes.place(*target))}, "the exact weights"))
    for k, (seed, path) in enumerate(drawn):
        _draw(axes, k, seed, path)
    ends = "; ".join(f"seed {seed} at {_pair(path[-1])}" for seed, path in drawn)
    said = f"The two weights of {label} over training. Exact would be {_pair(target)}. They end: {ends}."
    return Figure(label, axes.drawing(said), _more(len(runs), len(drawn)))


def _names(task: DigitTask) -> list[str]:
    inputs = (f"{name} digit" if name in ("first", "second") else name for name in task.input_names)
    return [f"weight of the {name}" for name in inputs]


def _draw(axes: Axes, k: int, seed: int, path: np.ndarray) -> None:
    colour = {"style": f"--own: var(--u{k % 7})"}
    told = f"seed {seed}: from {_pair(path[0])} to {_pair(path[-1])}"
    places = [axes.place(*point) for point in path]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    axes.add(shape("polyline", {"class": "line", "points": line, **colour}, told))
    for name, (x, y) in (("start", places[0]), ("end", places[-1])):
        axes.add(
            shape("circle", {"class": name, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "4", **colour}, told)
        )


def _cross(x: float, y: float, size: float = 9.0) -> str:
    return f"M{x - size:.1f},{y:.1f}h{2 * size:.0f}M{x:.1f},{y - size:.1f}v{2 * size:.0f}"


def _pair(values: Sequence[float] | np.ndarray) -> str:
    return f"({', '.join(f'{value:.3g}' for value in values)})"


def _more(runs: int, drawn: int) -> str:
    return "" if drawn == runs else f"{drawn} of {runs} runs are drawn."
