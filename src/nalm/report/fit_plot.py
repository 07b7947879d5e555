"""A picture of a fit: what the formula gives against what the rows say, and what is left over."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nalm.errors import check_choice
from nalm.papers.figures import COLOURS, MissingPackage
from nalm.report.files import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = ("png", "svg", "pdf", "html")
_MOST_POINTS = 5_000
"""More points are not drawn: they would hide each other and fill the file."""
_PAGE = "<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>Fit of {title}</title>\n{picture}\n"


def check_plot(path: Path) -> None:
    """Refuse an ending that cannot be drawn, or drawing without matplotlib, before any work is done."""
    check_choice("plot", path.suffix.lower().lstrip(".") or str(path), ENDINGS)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackage("Plots need matplotlib: pip install 'nalm[report]'.") from None


def draw_fit(path: Path, targets: Sequence[str], true: np.ndarray, predicted: np.ndarray) -> None:
    """Draw a row of two panels per target.

    Args:
        path: the file, whose ending says how.
        targets: the names of the targets.
        true: what the rows say, `rows x targets`.
        predicted: what the formulas give, `rows x targets`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2 * len(targets)), layout="constrained")
    panels = figure.subplots(len(targets), 2, squeeze=False)
    shown = _shown(len(true))
    for k, (name, pair) in enumerate(zip(targets, panels)):
        _agreement(pair[0], _plain(name), true[shown, k], predicted[shown, k])
        _residuals(pair[1], _plain(name), true[shown, k], predicted[shown, k])
    if len(shown) < len(true):
        figure.supxlabel(f"{len(shown):,} of {len(true):,} rows are drawn", fontsize=8)
    with written_whole(path) as part:
        _write(figure, part, path.suffix.lower().lstrip("."), ", ".join(targets))


def _shown(rows: int) -> np.ndarray:
    """The rows to draw, at equal distances."""
    return np.unique(np.linspace(0, rows - 1, min(rows, _MOST_POINTS)).astype(int))


def _agreement(axis: Axes, name: str, true: np.ndarray, predicted: np.ndarray) -> None:
    ends = [true.min(), true.max()]
    axis.plot(ends, ends, color="0.6", linewidth=1, zorder=1, label="equal")
    axis.scatter(true, predicted, s=14, color=COLOURS[0], alpha=0.7, linewidths=0, zorder=2, label="a row")
    axis.set(xlabel=f"{name}, true", ylabel=f"{name}, by the formula", title="Predicted against true")
    axis.legend(frameon=False)
    _tidy(axis)


def _residuals(axis: Axes, name: str, true: np.ndarray, predicted: np.ndarray) -> None:
    axis.axhline(0, color="0.6", linewidth=1, zorder=1)
    axis.scatter(predicted, true - predicted, s=14, color=COLOURS[4], alpha=0.7, linewidths=0, zorder=2)
    axis.set(xlabel=f"{name}, by the formula", ylabel="true minus predicted", title="Residuals")
    _tidy(axis)


def _tidy(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color="0.92")
    axis.set_axisbelow(True)
    axis.ticklabel_format(style="sci", scilimits=(-4, 5), useMathText=True)


def _plain(name: str) -> str:
    """The name as it is: matplotlib would take dollar signs for formulas."""
    return name.replace("$", r"\$")


def _write(figure: Figure, path: Path, kind: str, title: str) -> None:
    if kind != "html":
        figure.savefig(path, format=kind, dpi=150)
        return
    from html import escape

    picture = io.StringIO()
    figure.savefig(picture, format="svg")
    drawn = picture.getvalue()
    path.write_text(_PAGE.format(title=escape(title), picture=drawn[drawn.index("<svg") :]), encoding="utf-8")
