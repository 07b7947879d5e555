"""The verdict on a formula that was found, with the reasons for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor

from nalm.discover.evidence import MORE_ROWS, bits_of, doubts, fits
from nalm.second_order.solution import Found
from nalm.second_order.verdict import BITS_TO_SPARE, has_trace_of, off_sentence, unexplained
from nalm.symbolic.expression_graph import ExpressionGraph

_MET = 0.9
"""A formula that fits this share of the rows to their precision is right; the others are named."""
_BIAS = 4.0
"""The mean of noise is below this many of its standard errors."""
_EXPLAINED = 0.5
"""A formula that explains less of the variance of the target than this is none."""


def judged(
    graph: ExpressionGraph | None,
    others: Sequence[ExpressionGraph],
    x: Tensor,
    y: Tensor,
    names: Sequence[str],
) -> tuple[Found, list[str], float]:
    """The verdict, its reasons, and the share of the variance that is explained.

    Args:
        graph: the formula; None if there is none.
        others: other functions that fit the rows as well.
        x: inputs, `n x in`.
        y: targets, `n`.
        names: the names of the columns.
    """
    if graph is None:
        return Found.FAILED, ["No formula explains the target."], 0.0
    outputs = graph(x)
    met, allowed = fits(graph, x, y)
    if bool(met.all()):
        reasons = doubts(graph, x, y, allowed, names)
        if others:
            other = others[0].expression(names)
            count = f"{len(others)} other formula{'' if len(others) == 1 else 's'}"
            reasons.insert(0, f"{count} of as many steps fit every row too, such as {other}.")
        return (Found.DISCRETE if reasons else Found.EXACT), reasons, 1.0
    if float(met.double().mean()) >= _MET:
        return Found.DISCRETE, [off_sentence(met)], 1 - unexplained(outputs[met][:, None], y[met][:, None])
    r2 = 1 - unexplained(outputs[:, None], y[:, None])
    if r2 < _EXPLAINED:
        return (
            Found.FAILED,
            ["No formula explains more than half of the variance of the target."],
            max(r2, 0.0),
        )
    left = y - outputs
    middle, chance = float(left.mean()), float(left.std()) / math.sqrt(len(left)) if len(left) > 1 else 0.0
    if abs(middle) > _BIAS * chance:
        return Found.APPROXIMATE, [f"It is off by {middle:.3g} on average, which is not noise."], r2
    if has_trace_of(x, outputs, y):
        return Found.APPROXIMATE, ["What it leaves unexplained depends on the inputs: it is not noise."], r2
    if len(x) < x.shape[1] + MORE_ROWS or _bits(r2, len(x)) < bits_of(graph) + BITS_TO_SPARE:
        return Found.APPROXIMATE, ["There are too few rows to tell noise from a wrong formula."], r2
    return Found.DISCRETE, ["It leaves residuals that look like noise."], r2


def _bits(r2: float, rows: int) -> float:
    """What so many rows say for a formula that explains this share of the variance."""
    return 0.5 * rows * math.log2(1 / max(1 - r2, 1e-300))
