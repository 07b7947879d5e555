"""The figure of section 4.1 of Heim et al. 2020: error against the number of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nalm.papers.heim2020.programs.fractional_sir import Point


def pareto_front(points: list[Point]) -> list[Point]:
    """The points that no other beats in both size and error, the smallest first."""
    front: list[Point] = []
    for point in sorted(points, key=lambda each: (each.size, each.error)):
        if not front or point.error < front[-1].error:
            front.append(point)
    return front


def draw_pareto(measured: Measured, figure: Figure) -> None:
    """All networks as points, and the Pareto front of each row as a line, on logarithmic axes."""
    (axis,) = row_of_panels(figure, 1, 6.0)
    for k, (row, points) in enumerate(measured.data.items()):
        held = [point for point in points if np.isfinite(point.error) and point.size and point.error > 0]
        front = pareto_front(held)
        colour = COLOURS[k % len(COLOURS)]
        axis.scatter(
            [p.size for p in held], [p.error for p in held], s=14, alpha=0.35, color=colour, marker=MARKERS[k]
        )
        axis.plot([p.size for p in front], [p.error for p in front], color=colour, label=row)
    axis.set(xscale="log", yscale="log", xlabel="parameters above 0.001", ylabel="MSE of the epidemic")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
