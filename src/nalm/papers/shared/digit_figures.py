"""Figures of experiments on images of digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nalm.evaluate.intervals import t_interval
from nalm.papers.entry import Measured, rows_of
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.shared.digits import ACCURACY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {"success": "Success rate", "solved at": "Solved at step", "sparsity": "Sparsity error"}


def draw_lengths(measured: Measured, figure: Figure) -> None:
    """Success, its step and sparsity over the length of the sequences, one line per row."""
    rows = list(dict.fromkeys(row for row, _, metric in measured.findings if metric == "success"))
    for axis, (metric, title) in zip(row_of_panels(figure, 3), _PANELS.items()):
        for k, row in enumerate(rows):
            columns = measured.findings.columns(row, metric)
            found = {int(column.split()[-1]): measured.findings[row, column, metric] for column in columns}
            held = {count: each for count, each in found.items() if each.value is not None}
            style: dict[str, Any] = {
                "color": COLOURS[k % len(COLOURS)],
                "marker": MARKERS[k % len(MARKERS)],
                "markersize": 4,
            }
            axis.plot([*held], [each.value or 0.0 for each in held.values()], label=row, **style)
            for count, each in held.items():
                if each.low is not None and each.high is not None:
                    axis.vlines(count, each.low, each.high, color=style["color"], alpha=0.3)
        axis.set(title=title, xlabel="length")
        axis.grid(alpha=0.3)
    _legend(figure, len(rows))


def draw_accuracies(measured: Measured, figure: Figure) -> None:
    """Accuracies as bars with intervals, one group per column, one bar per row."""
    pairs = list(rows_of(measured.findings))
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*pairs))
    (axis,) = row_of_panels(figure, 1, max(5.0, 0.25 * len(rows) * len(columns) + 2))
    for k, row in enumerate(rows):
        for place, column in enumerate(columns):
            finding = measured.findings.get((row, column, ACCURACY))
            if finding is None or finding.value is None:
                continue
            x = place + 0.8 * ((k + 0.5) / len(rows) - 0.5)
            axis.bar(x, finding.value, 0.8 / len(rows), color=COLOURS[k % len(COLOURS)])
            if finding.low is not None and finding.high is not None:
                axis.plot([x, x], [finding.low, finding.high], color="black", linewidth=1)
    for k, row in enumerate(rows):
        axis.bar(0, 0, color=COLOURS[k % len(COLOURS)], label=row)
    axis.set_xticks(range(len(columns)), columns, rotation=30 if len(columns) > 4 else 0)
    axis.set(ylabel="accuracy, %", ylim=(0, 103))
    _legend(figure, len(rows))


def draw_folds(measured: Measured, figure: Figure) -> None:
    """The accuracy of every fold, and how they are distributed; `data` has them by row."""
    data: Mapping[str, Sequence[float]] = measured.data or {}
    shown = {row: [v for v in values if math.isfinite(v)] for row, values in data.items()}
    shown = {row: values for row, values in shown.items() if values}
    (axis,) = row_of_panels(figure, 1, max(5.0, 1.3 * len(shown)))
    for k, values in enumerate(shown.values()):
        if len(set(values)) > 1:
            axis.violinplot([values], positions=[k], widths=0.7, showextrema=False)
        axis.plot([k] * len(values), values, "o", color=COLOURS[0], markersize=3)
    axis.set_xticks(range(len(shown)), list(shown), rotation=15)
    axis.set(ylabel="accuracy, %")
    _leave_room(figure)


def draw_paths(measured: Measured, figure: Figure) -> None:
    """The path of the two weights of every run; the target is (1, 1). `data` has the paths by row."""
    data: Mapping[str, Sequence[np.ndarray]] = measured.data or {}
    for axis, (row, paths) in zip(row_of_panels(figure, max(1, len(data)), 3.2, 3.6), data.items()):
        for path in paths:
            axis.plot(path[:, 0], path[:, 1], color="0.6", linewidth=0.8)
            axis.plot(*path[0], "*", color=COLOURS[0])
            axis.plot(*path[-1], "*", color=COLOURS[4])
        axis.axhline(1, color="0.85", linewidth=0.8, zorder=0)
        axis.axvline(1, color="0.85", linewidth=0.8, zorder=0)
        axis.set(title=row, xlabel="first weight", ylabel="second weight")
    _leave_room(figure)


def draw_confusions(measured: Measured, figure: Figure) -> None:
    """How often each digit is read as which, one panel per row; `data` has the matrices by row."""
    data: Mapping[str, np.ndarray] = measured.data or {}
    for axis, (row, matrix) in zip(row_of_panels(figure, max(1, len(data)), 2.8, 3.2), data.items()):
        totals = np.maximum(matrix.sum(1, keepdims=True), 1e-300)
        axis.imshow(matrix / totals, vmin=0, vmax=1, cmap="Blues")
        axis.set(title=row, xlabel="read as", ylabel="digit", xticks=range(10), yticks=range(10))
    _leave_room(figure)


def draw_curves(measured: Measured, figure: Figure) -> None:
    """Accuracy of both digits over the steps, the mean of all seeds with its interval.

    `data` has, by row, the steps and the accuracies `seeds x labels x logs`.
    """
    data: Mapping[str, tuple[np.ndarray, np.ndarray]] = measured.data or {}
    for label, axis in enumerate(row_of_panels(figure, 2, 4.6)):
        for k, (row, (steps, accuracies)) in enumerate(data.items()):
            _curve(axis, steps, accuracies[:, label], row, COLOURS[k % len(COLOURS)])
        axis.set(title=f"Label {label + 1}", xlabel="step", ylabel="accuracy, %")
        axis.grid(alpha=0.3)
    _legend(figure, len(data))


def _curve(axis: Axes, steps: np.ndarray, accuracies: np.ndarray, row: str, colour: str) -> None:
    intervals = [t_interval(accuracies[:, at]) for at in range(accuracies.shape[1])]
    axis.plot(steps, [i.value for i in intervals], label=row, color=colour)  # type: ignore[arg-type]
    if len(accuracies) > 1:
        ends = ([i.low for i in intervals], [i.high for i in intervals])
        axis.fill_between(steps, *ends, color=colour, alpha=0.15)  # type: ignore[arg-type]


def _leave_room(figure: Figure) -> None:
    """Below the panels, for the line about what was reduced."""
    figure.set_layout_engine("constrained", rect=(0, 0.06, 1, 0.94))


def _legend(figure: Figure, rows: int) -> None:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(rows, 6), frameon=False)
