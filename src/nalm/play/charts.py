"""Charts as options of ECharts: errors on a logarithmic axis, weights over steps, predicted against true.

They are drawn as SVG in the colour of the text around them, so that they follow light and dark by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

Points = Sequence[tuple[float, float | None]]

SMALLEST = 1e-16
"""Smaller errors are drawn here, because a logarithmic axis has no zero."""
_COLOURS = ["#2a7de1", "#d9730d", "#2c9c5a", "#b455c8", "#c8464b", "#8a7a1f", "#1f9aa8", "#7c7cf0"]
"""Colours that can be told apart on white and on black."""
_INK = "currentColor"
_EXPONENT = "v => v.toExponential(0)"
"""How a browser writes errors."""
_SWATCH = {"icon": "roundRect", "itemHeight": 3}
_DASHES = ("solid", "dashed", "dotted")


def chart(label: str) -> ui.echart:
    """An empty chart.

    Args:
        label: what it shows, for those who cannot see it.
    """
    made = ui.echart({"animation": False}, renderer="svg").classes("play-chart")
    return made.props(f'role=img aria-label="{label}"')


def draw(made: ui.echart, options: dict[str, Any]) -> None:
    """Show other options in a chart."""
    made.options.clear()
    made.options.update(options)
    made.update()


def error_options(
    curves: Mapping[str, Points], below: float | None, steps: int | None = None
) -> dict[str, Any]:
    """Errors over steps, one line per name, and the line below which a run is solved.

    Args:
        curves: the points of each line.
        below: the threshold, if it is known.
        steps: the last step, if it is known.
    """
    lines = {name: [(x, _drawn(y)) for x, y in points] for name, points in curves.items()}
    series = [_line(name, points, k) for k, (name, points) in enumerate(lines.items())]
    seen = [y for points in lines.values() for _, y in points if y] + ([below] if below else [])
    if below:
        last = steps or max((x for points in lines.values() for x, _ in points), default=1)
        limit = _line("solved below", [(0, below), (last, below)], 0)
        series.append(limit | {"color": _INK, "lineStyle": {"width": 1, "type": "dashed", "color": _INK}})
    vertical = {"type": "log", "min": _decade(min, seen), "max": _decade(max, seen)}
    return _over_steps(series, vertical, steps, "Test error", _EXPONENT)


def weight_options(curves: Mapping[str, Points], steps: int | None = None) -> dict[str, Any]:
    """Weights and gates over steps, one line per name."""
    series = [_line(name, points, k) for k, (name, points) in enumerate(curves.items())]
    return _over_steps(series, {"type": "value", "scale": True}, steps, "Weights and gates")


def pair_options(pairs: Sequence[Sequence[float]], target: str) -> dict[str, Any]:
    """What a formula gives against what is true."""
    ends = [min(pair[0] for pair in pairs), max(pair[0] for pair in pairs)] if pairs else [0.0, 1.0]
    ideal = _line("equal", [(end, end) for end in ends], 1)
    points = {
        "type": "scatter",
        "name": target,
        "symbolSize": 6,
        "data": pairs,
        "itemStyle": {"color": _COLOURS[0]},
    }
    return {
        **_frame([ideal, points], f"{target}: formula against rows"),
        "xAxis": {**_axis("in your rows"), "type": "value", "scale": True},
        "yAxis": {**_axis(), "type": "value", "scale": True},
    }


def _drawn(error: float | None) -> float | None:
    return None if error is None else max(error, SMALLEST)


def _decade(end: Callable[[list[float]], float], seen: list[float]) -> float:
    """The power of ten below the smallest of these numbers, or above the largest."""
    if not seen:
        return 1e-12 if end is min else 1.0
    rounded = math.floor if end is min else math.ceil
    return float(10.0 ** rounded(math.log10(end(seen))))


def _line(name: str, points: Points, index: int) -> dict[str, Any]:
    dash = _DASHES[index // len(_COLOURS) % len(_DASHES)]
    return {
        "type": "line",
        "name": name,
        "data": [list(point) for point in points],
        "showSymbol": len(points) == 1,
        "color": _COLOURS[index % len(_COLOURS)],
        "lineStyle": {"width": 2, "type": dash},
    }


def _over_steps(
    series: list[Any], vertical: dict[str, Any], steps: int | None, title: str, written: str = ""
) -> dict[str, Any]:
    axis = _axis()
    if written:
        axis["axisLabel"][":formatter"] = written
    return {
        **_frame(series, title),
        "legend": {"type": "scroll", "bottom": 0, "textStyle": {"color": _INK}, **_SWATCH},
        "xAxis": {**_axis("step"), "type": "value", "min": 0, "max": steps},
        "yAxis": {**axis, **vertical},
    }


def _frame(series: list[Any], title: str) -> dict[str, Any]:
    return {
        "animation": False,
        "title": {"text": title, "left": 0, "textStyle": {"color": _INK, "fontSize": 13, "fontWeight": 600}},
        "grid": {"left": 8, "right": 20, "top": 42, "bottom": 44, "containLabel": True},
        "tooltip": {"trigger": "axis", "confine": True},
        "series": series,
    }


def _axis(name: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": 26,
        "nameTextStyle": {"color": _INK},
        "axisLabel": {"color": _INK, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": _INK, "opacity": 0.4}},
        "axisTick": {"lineStyle": {"color": _INK, "opacity": 0.4}},
        "splitLine": {"lineStyle": {"color": _INK, "opacity": 0.12}},
    }
