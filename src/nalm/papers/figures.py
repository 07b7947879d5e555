"""Figures as the papers draw them, with matplotlib: PNG and PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm.errors import NalmError
from nalm.papers.entry import Entry, Measured, rows_of
from nalm.papers.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind people can distinguish, each with a marker for print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442", "#999999")
MARKERS = "osD^v<>PX"
_LEAST = 1e-7
"""Errors below this are drawn on a linear scale, so that zero can be drawn."""
_SUFFIXES = ("png", "pdf")
_TITLES = {"success": "Success rate", "solved at": "Solved at step", "sparsity": "Sparsity error"}


class MissingPackage(NalmError):
    """An optional package is not installed."""


def save(
    entry: Entry, measured: Measured, folder: Path, name: str, reduced: Sequence[str] = ()
) -> list[Path]:
    """Draw what was measured, with a line about what was reduced; return the files written."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackage("Figures need matplotlib: pip install 'nalm[report]'.") from None

    figure = Figure(layout="constrained")
    if entry.draw is not None:
        entry.draw(measured, figure)
    else:
        panels(entry, measured, figure)
    if reduced:
        figure.text(0.01, 0.005, "Reduced: " + "; ".join(reduced), fontsize=7, color="#D55E00")
    files = [folder / f"{name}.{suffix}" for suffix in _SUFFIXES]
    for file in files:
        figure.savefig(file, dpi=150)
    return files


def panels(entry: Entry, measured: Measured, figure: Figure) -> None:
    """One panel per metric, one series per row, the columns along the axis, with intervals."""
    metrics = [m for m in entry.metrics if any(key[2] == m.name for key in measured.findings)]
    pairs = list(rows_of(measured.findings))
    rows = list(dict.fromkeys(row for row, _ in pairs))
    columns = list(dict.fromkeys(column for _, column in pairs))
    figure.set_size_inches(max(2.6 + 0.3 * len(columns), 4.0) * len(metrics), 4.4)
    axes = figure.subplots(1, len(metrics), squeeze=False)[0]
    for axis, metric in zip(axes, metrics):
        _panel(axis, metric, measured, rows, columns)
    figure.suptitle(f"{entry.id}: {entry.title}")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(rows), 6), frameon=False)


def row_of_panels(figure: Figure, count: int, width: float = 4.2, height: float = 3.8) -> Sequence[Axes]:
    """Panels side by side."""
    figure.set_size_inches(width * count, height)
    return list(figure.subplots(1, count, squeeze=False)[0])


def _panel(
    axis: Axes, metric: Metric, measured: Measured, rows: Sequence[str], columns: Sequence[str]
) -> None:
    for k, row in enumerate(rows):
        places, values, below, above = [], [], [], []
        for place, column in enumerate(columns):
            found = measured.findings.get((row, column, metric.name))
            if found is None or found.value is None:
                continue
            places.append(place + 0.7 * ((k + 0.5) / len(rows) - 0.5))
            values.append(found.value)
            below.append(found.value - (found.value if found.low is None else min(found.low, found.value)))
            above.append((found.value if found.high is None else max(found.high, found.value)) - found.value)
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        axis.errorbar(places, values, yerr=[below, above], label=row, linestyle="none", capsize=2, **style)
    axis.set_title(_TITLES.get(metric.name, metric.name.capitalize()))
    axis.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    axis.grid(axis="y", alpha=0.3)
    for edge in range(1, len(columns)):
        axis.axvline(edge - 0.5, color="0.9", linewidth=0.8)
    if "success" in metric.name:
        axis.set_ylim(-0.03, 1.03)
    elif metric.name != "solved at":  # errors span many powers of ten
        axis.set_yscale("symlog", linthresh=_LEAST)
        axis.set_ylim(-0.3 * _LEAST, max(axis.get_ylim()[1], 1e-2))
