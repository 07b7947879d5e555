"""Lines of models in a drawing: the medians of their runs, with the range of the runs as an area."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nalm.report.axes import Axes, shape

COLOURS = 7
"""Colours of the page; a colour that comes again has another symbol."""
SYMBOLS = (
    *("M0-8A8 8 0 1 0 .01-8Z", "M-7-7H7V7H-7Z", "M0-9L9 0 0 9-9 0Z", "M0-8L9 7H-9Z", "M0 8L9-7H-9Z"),
    *("M-3-9H3V-3H9V3H3V9H-3V3H-9V-3H-3Z", "M-8-9H8L-8 9H8Z", "M0-9L8.6-2.8 5.3 7.3H-5.3L-8.6-2.8Z"),
    *("M-9-8V8L9-8V8Z", "M-8 0L7-9V9Z", "M8 0L-7-9V9Z"),
)
"""One for each line, like those of the other plots; their number and that of the colours differ."""


def key_of(labels: Sequence[str]) -> list[dict[str, Any]]:
    """Which line is whose: the label, colour and symbol of each."""
    return [
        {"label": label, "colour": k % COLOURS, "symbol": SYMBOLS[k % len(SYMBOLS)]}
        for k, label in enumerate(labels)
    ]


def add_line(
    axes: Axes, k: int, across: Sequence[float], values: np.ndarray, told: Callable[[int, float], str]
) -> None:
    """The range of the runs as an area, the medians as a line; what is not finite is left out.

    Args:
        axes: where to draw.
        k: the number of the line, which determines colour and symbol.
        across: where its points are on the horizontal axis.
        values: their values, `points x runs`.
        told: what to say by hovering over a point, from its index and its median.
    """
    low, middle, high = values.min(1), np.median(values, 1), values.max(1)
    shown = [j for j in range(len(across)) if np.isfinite(middle[j])]
    top = [axes.place(across[j], high[j] if np.isfinite(high[j]) else axes.up.high) for j in shown]
    bottom = [axes.place(across[j], low[j]) for j in reversed(shown)]
    line = [axes.place(across[j], middle[j]) for j in shown]
    own = {"style": f"--own: var(--u{k % COLOURS})"}
    if values.shape[1] > 1:
        axes.add(shape("polygon", {"class": "area", "points": points([*top, *bottom]), **own}))
    axes.add(shape("polyline", {"class": "line", "points": points(line), **own}))
    for j in shown:
        add_symbol(axes, k, across[j], middle[j], told(j, float(middle[j])))


def add_symbol(axes: Axes, k: int, x: float, y: float, told: str) -> None:
    """The symbol of a line at a pair of values, with what to say by hovering over it."""
    right, down = axes.place(x, y)
    at = f"translate({right:.1f} {down:.1f}) scale(.45)"
    own = {"style": f"--own: var(--u{k % COLOURS})"}
    axes.add(shape("path", {"class": "symbol", "d": SYMBOLS[k % len(SYMBOLS)], "transform": at, **own}, told))


def points(places: Sequence[tuple[float, float]]) -> str:
    """Places in a drawing as SVG writes them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
