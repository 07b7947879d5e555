"""Loss surfaces with the paths of training on them, for every unit that can multiply or divide.

After Madsen & Johansen 2020, figure 2, and the thesis, figures 4.1, 4.3 and 5.18, but for a single unit: the
two axes are its two weights, and the runs are those of its published recipe, in which everything is trained.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nalm.report.gallery.descent import Descent, descents
from nalm.report.gallery.picture import Drawn, Kind, Studio, new_figure
from nalm.report.gallery.planes import PLANES, Plane, drawable
from nalm.report.gallery.tasks import task_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

_LEVELS = [10 ** (k / 2) for k in range(-8, 3)]
"""Losses at which colours change: the same for all units, so that pictures can be compared."""
_TICKS = _LEVELS[::2]
_ARRIVES, _ENDS = "white", "#FF9D4D"
"""Colours of paths that end at a minimum and elsewhere; the latter are dashed too."""
_STAR: dict[str, Any] = {"marker": "*", "s": 190, "color": "#F0E442", "edgecolors": "black"}


def draw(unit: str, studio: Studio) -> Drawn:
    """The loss surfaces of a unit."""
    found, plane = descents(unit), PLANES[unit]
    figure = new_figure(max(6.4, 0.6 + 3.9 * len(found)), 4.9)
    axes = figure.subplots(1, len(found), squeeze=False)[0]
    for axis, descent in zip(axes, found):
        image = _surface(axis, descent, plane)
    figure.colorbar(image, ax=list(axes), label="mean squared error", shrink=0.85, ticks=_TICKS)
    _legend(figure, plane)
    held = f"\n{plane.held}" if plane.held else ""
    figure.suptitle(f"{unit}: loss over two weights{held}", fontsize=11)
    return Drawn(figure, unit, sentence(found, plane), f"nalm gallery --only loss-surface-{unit}")


def _surface(axis: Axes, descent: Descent, plane: Plane) -> ScalarMappable:
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    values = descent.axis.numpy()
    image = axis.contourf(values, values, descent.loss.T.clamp(min=1e-12).numpy(), _LEVELS, cmap="viridis",
                          norm=LogNorm(_LEVELS[0], _LEVELS[-1]), extend="both")  # fmt: skip
    if plane.beyond and math.isfinite(plane.low):
        side = plane.high - plane.low
        axis.add_patch(Rectangle((plane.low,) * 2, side, side, fill=False, edgecolor="white", linestyle=":"))
    for path, arrived in zip(descent.paths, descent.arrived):
        _path(axis, path.numpy(), arrived, plane)
    axis.scatter(*descent.minima.T.numpy(), **_STAR, linewidths=0.9, zorder=6, clip_on=False)
    low, high = plane.shown
    axis.set(xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="$w_1$", ylabel="$w_2$")
    solved, runs = sum(descent.solved), len(descent.solved)
    axis.set_title(f"{task_text(descent.task)}\nsolved by {solved} of {runs} runs",
                   fontsize=10)  # fmt: skip
    return image


def _path(axis: Axes, path: np.ndarray, arrived: bool, plane: Plane) -> None:
    from matplotlib import patheffects

    x, y = path.T
    colour, style = (_ARRIVES, "-") if arrived else (_ENDS, "--")
    outline = [patheffects.Stroke(linewidth=2.6, foreground="black"), patheffects.Normal()]
    axis.plot(x, y, color=colour, linestyle=style, linewidth=1.3, path_effects=outline, zorder=3)
    axis.scatter(x[0], y[0], s=16, color="black", edgecolors="white", linewidths=0.6, zorder=4)
    if not arrived:
        outside = max(abs(x[-1]), abs(y[-1])) > plane.shown[1]
        axis.scatter(x[-1], y[-1], s=40, color=colour, marker="X", edgecolors="black", zorder=5,
                     clip_on=outside)  # fmt: skip


def _legend(figure: Figure, plane: Plane) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import Normal, Stroke

    outline = [Stroke(linewidth=2.6, foreground="black"), Normal()]
    edge: dict[str, Any] = {"markeredgecolor": "black"}
    made = [
        Line2D([], [], linestyle="none", marker="*", markersize=12, color=_STAR["color"], **edge,
               label="minimum"),
        Line2D([], [], linestyle="none", marker="o", markersize=5, color="black", label="start of a run"),
        Line2D([], [], color=_ARRIVES, linewidth=1.3, path_effects=outline, label="ends at a minimum"),
        Line2D([], [], color=_ENDS, linestyle="--", marker="X", markersize=7, **edge, label="ends elsewhere"),
    ]  # fmt: skip
    if plane.beyond and math.isfinite(plane.low):
        label = f"weights stay in [{plane.low:g}, {plane.high:g}]"
        made.append(Line2D([], [], color="0.4", linestyle=":", label=label))
    figure.legend(handles=made, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def sentence(found: list[Descent], plane: Plane) -> str:
    """What is seen, with how many runs arrived and how many solved the task."""
    counts = "; ".join(
        f"{task_text(d.task, plain=True)}: {sum(d.arrived)} of {len(d.solved)} runs end at a "
        f"minimum, solved by {sum(d.solved)}"
        for d in found
    )
    held = f" In the surface, {plane.held}; the runs train everything." if plane.held else ""
    return f"{counts}.{held} {plane.note}".strip()


KIND = Kind(
    "loss-surfaces",
    "Loss surfaces and descent",
    "How the mean squared error of a unit, without its penalty, depends on two weights, and where runs of "
    "its published recipe go from its own initial weights. A task is solved if the error outside the "
    "training range is below the papers' threshold: a run can end at a minimum and not be exact enough, or "
    "have a wrong gate.",
    {
        f"loss-surface-{unit}": functools.partial(draw, unit)
        for unit in drawable()
    },
)  # fmt: skip
