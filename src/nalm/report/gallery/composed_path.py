"""The path of a composed expression: which unit acts at each step, what it reads and what it writes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import torch

from nalm.discover.compose import compose
from nalm.models.path import steps_of_graph
from nalm.papers.figures import COLOURS
from nalm.report.gallery.picture import Drawn, Kind, Skipped, Studio, new_figure
from nalm.report.page_paths import PackedStep, Path, packed_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("a", "b", "c", "d", "e")
FORMULA = "(a + b)/(c - d)*a"
_ROWS = 200
_UNITS = {"nau": COLOURS[0], "nmu": COLOURS[1], "nru": COLOURS[2]}
_WIDE, _HIGH, _RIGHT, _DOWN = 2.3, 0.8, 1.5, 1.35
"""The size of a box, and how far the next one is to the right and down."""
_BENT = {"connectionstyle": "angle,angleA=-90,angleB=180,rad=4"}
"""An arrow that goes straight down, then to the right."""


def found_path() -> tuple[Path, str, str]:
    """The steps that are found behind a table made by the formula, what was found, and the verdict."""
    generator = torch.Generator().manual_seed(0)
    x = torch.empty(_ROWS, len(NAMES), dtype=torch.float64).uniform_(1, 2, generator=generator)
    a, b, c, d, _ = x.T
    composed = compose(x, (a + b) / (c - d) * a, names=NAMES)
    if composed.graph is None:
        raise Skipped(f"No expression was found for {FORMULA}.")
    return packed_path(steps_of_graph(composed.graph, NAMES)), str(composed.expression), str(composed.found)


def draw(studio: Studio) -> Drawn:
    """The path of an expression that `nalm.compose` finds in a table."""
    path, formula, verdict = found_path()
    figure = new_figure(8.2, 1.0 + 1.05 * len(path))
    axis = figure.subplots()
    axis.set_axis_off()
    for k in range(len(path)):
        _step(axis, path, k)
    right = _RIGHT * (len(path) - 1) + _WIDE
    axis.set(xlim=(-1.5, right + 0.9), ylim=(-_DOWN * (len(path) - 1) - _HIGH - 0.1, 0.4))
    axis.set_title(f"{formula}, found in {_ROWS} rows of {', '.join(NAMES)}", fontsize=11)
    return Drawn(
        figure,
        "a composed expression",
        f"The steps of {formula}, which is found in {_ROWS} rows of five columns, of which one does not "
        f"matter, and called {verdict}: each unit reads inputs or earlier lines and writes a line.",
        "nalm.compose",
        vector=True,
    )


def _corner(k: int) -> tuple[float, float]:
    """The upper left corner of a box: each is lower and further right than the one before."""
    return _RIGHT * k, -_DOWN * k


def _step(axis: Axes, path: Path, k: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    step: PackedStep = path[k]
    number, unit, reads, writes, expression, _ = step
    x, y = _corner(k)
    colour = _UNITS.get(unit, COLOURS[-1])
    box = FancyBboxPatch((x, y - _HIGH), _WIDE, _HIGH, boxstyle="round,pad=0,rounding_size=0.1",
                         facecolor="white", edgecolor=colour, linewidth=2)  # fmt: skip
    axis.add_patch(box)
    axis.text(x + 0.12, y - 0.24, f"step {number}: {unit}", fontsize=9, color="0.35", va="center")
    said = "\n".join(textwrap.wrap(f"{writes} = {expression}", 24))
    axis.text(x + 0.12, y - 0.57, said, fontsize=10, family="monospace", va="center")
    _arrows(axis, reads, k)
    if k == len(path) - 1:
        middle = y - _HIGH / 2
        axis.annotate("y", (x + _WIDE, middle), (x + _WIDE + 0.6, middle), fontsize=12, va="center",
                      arrowprops={"arrowstyle": "<-", "color": "0.3"})  # fmt: skip


def _arrows(axis: Axes, reads: tuple[str | int, ...], k: int) -> None:
    """From earlier boxes down and to the right; from names on the left."""
    x, y = _corner(k)
    arrow = {"arrowstyle": "->", "color": "0.3", "shrinkA": 0, "shrinkB": 0}
    names = [read for read in reads if isinstance(read, str)]
    lines = sorted(read for read in reads if isinstance(read, int))
    ports = [y - _HIGH * (j + 1) / (len(reads) + 1) for j in range(len(reads))]
    # The latest line comes from the box that is nearest, and has the port that is lowest.
    ordered: list[str | int] = [*names, *lines]
    for port, read in zip(ports, ordered):
        if isinstance(read, str):
            axis.annotate("", (x, port), (x - 0.55, port), arrowprops=arrow)
            axis.text(x - 0.62, port, read, fontsize=11, family="monospace", ha="right", va="center")
        else:
            start = _corner(read)[0] + 0.25 + 0.3 * (k - read - 1)
            axis.annotate("", (x, port), (start, _corner(read)[1] - _HIGH), arrowprops={**arrow, **_BENT})


KIND = Kind(
    "path",
    "Composed paths",
    "An expression of several steps, as the units that compute it.",
    {"composed-path": draw},
)
