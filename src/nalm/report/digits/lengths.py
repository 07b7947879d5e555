"""Errors by the length of sequences: a line per model, through the medians of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from nalm.evaluate.reference import upper_bound
from nalm.report.axes import Axes, Figure, Scale, decades, shape
from nalm.report.digits.cases import DigitGroup
from nalm.report.digits.rows import at_facet, number
from nalm.report.lines import add_line, points
from nalm.tasks import Facet

ERRORS = {"mse": "mean squared error", "mae": "mean absolute error"}
"""Errors by the beginning of their names."""
LEAST = 1e-12
"""Smaller errors are drawn here: a logarithm has no zero."""
_LONG = 50
"""Lengths up to this many are on a linear axis."""


def length_figure(group: DigitGroup) -> Figure | None:
    """The errors of a group by length; None if its task has no lengths, or no error is finite.

    Where runs succeed or fail, errors are divided by the error below which they succeed: the error of a
    product grows a thousandfold with every digit or two, which would hide everything else.
    """
    facets = [facet for facet in group.facets if "length" in facet.labels]
    if not facets:
        return None
    bounds = _bounds(group, facets)
    judged = bool(np.isfinite(bounds).any())
    found = [np.array([at_facet(case.runs, facet) for facet in facets]) for case in group.cases]
    drawn = [np.maximum(errors / bounds[:, None] if judged else errors, LEAST) for errors in found]
    finite = np.concatenate([errors[np.isfinite(errors)] for errors in drawn])
    if not len(finite):
        return None
    lengths = [int(facet.labels["length"]) for facet in facets]
    name = error_name(facets[0])
    axes = _axes(
        lengths, decades([*finite, *([1.0] if judged else [])]), f"{name} / bound" if judged else name
    )
    if judged:
        line = points([axes.place(end, 1.0) for end in (axes.across.low, axes.across.high)])
        axes.add(shape("polyline", {"class": "bound", "points": line}, "below this line a run succeeds"))
    for k, (label, errors) in enumerate(zip(group.labels, drawn)):
        add_line(axes, k, lengths, errors, partial(_told, label, lengths))
    return Figure("Error by length", axes.drawing(_said(group, lengths, found)))


def error_name(facet: Facet) -> str:
    """The error of a facet in words."""
    name = facet.curve.partition("/")[2]
    return ERRORS.get(name.partition("_")[0], name)


def _axes(lengths: Sequence[int], between: tuple[float, float], name: str) -> Axes:
    last = max(lengths)
    across = Scale(*decades(lengths), log=True) if last > _LONG else Scale(0, last + 1)
    return Axes(across, Scale(*between, log=True), ("length of the sequence", name))


def _bounds(group: DigitGroup, facets: Sequence[Facet]) -> np.ndarray:
    """The error below which runs succeed at each length; not a number if none is known."""
    reference = group.reference
    found = [None if reference is None else upper_bound(at_facet(reference.runs, facet)) for facet in facets]
    return np.array([bound or np.nan for bound in found], dtype=float)


def _told(label: str, lengths: Sequence[int], j: int, error: float) -> str:
    return f"{label}, length {lengths[j]:,}: {number(error)}"


def _said(group: DigitGroup, lengths: Sequence[int], found: Sequence[np.ndarray]) -> str:
    ends = "; ".join(
        f"{label} from {number(float(np.median(errors[0])))} to {number(float(np.median(errors[-1])))}"
        for label, errors in zip(group.labels, found)
    )
    return f"Median error from length {lengths[0]} to length {lengths[-1]:,}: {ends}."
