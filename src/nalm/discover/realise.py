"""From values that were found to an expression graph, with all signs settled.

Values are known up to sign. Every step is given a sign such that all of them fit together: a sum can have any
sign, a product has that of its operands. If no choice of signs gives the result its sign, one more step turns
it round.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from nalm.symbolic.expression_graph import PRODUCT, SIGNS, SUM, UNARY, ExpressionGraph, Step, applied

Named = tuple[int, str, int, int]
"""A step: the number of its value, its operation, and the numbers of its operands."""
INPUT = "input"
"""The operation of a step that only names an input."""
_OF_SUM = {(1, 1): "add", (1, -1): "sub", (-1, -1): "minus"}


def realised(named: Sequence[Named], row: np.ndarray, target: float) -> ExpressionGraph:
    """The graph of steps on values that are known up to sign: positive in one row.

    Args:
        named: steps in the order in which they are computed; the inputs are the values 0, 1, …. The result
            is the last value.
        row: the inputs in that row.
        target: the target in that row, whose sign the result must have.
    """
    inputs, steps = len(row), [step for step in named if step[1] != INPUT]
    if not steps:
        graph = ExpressionGraph(inputs, (), named[-1][0])
        return graph if row[graph.result] * target > 0 else _turned(graph)
    place = {k: k for k in range(inputs)} | {step[0]: inputs + n for n, step in enumerate(steps)}
    known = [Step(op, place[left], place[right]) for _, op, left, right in steps]
    lines = [np.abs(value) for value in row.astype(np.float64)]
    turned = [_sign(value) for value in row]  # how each line that is positive comes out of its step
    for step in known:
        with np.errstate(all="ignore"):  # a loose search may divide by a zero in this row
            value = applied(step.op, lines[step.left], lines[step.right])
        turned.append(_sign(value))
        lines.append(np.abs(value))
    for signs in itertools.product((1, -1), repeat=len(known)):
        given = [*turned[:inputs], *signs]
        fitting = all(_fits(step, given, turned, inputs + k) for k, step in enumerate(known))
        if fitting and given[-1] == _sign(target):
            made = (_signed(step, given, turned, inputs + k) for k, step in enumerate(known))
            return ExpressionGraph(inputs, tuple(made))
    # Only a product of products has no sign of its own: turned round, everything fits.
    return _turned(realised(steps, row, -target))


def _turned(graph: ExpressionGraph) -> ExpressionGraph:
    """The negative of a formula."""
    last = graph.result
    return ExpressionGraph(graph.inputs, (*graph.steps, Step("negative", last, last)))


def _sign(value: float) -> int:
    return -1 if value < 0 else 1


def _fits(step: Step, given: Sequence[int], turned: Sequence[int], line: int) -> bool:
    """Whether a step can have the sign it is given, if its operands have theirs."""
    if SIGNS[step.op][0] == SUM:
        return True
    signs = given[step.left] if step.op in UNARY else given[step.left] * given[step.right]
    return given[line] * turned[line] == signs


def _signed(step: Step, given: Sequence[int], turned: Sequence[int], line: int) -> Step:
    """The step that gives its line the sign, if its operands have theirs."""
    kind, first, second = SIGNS[step.op]
    if kind == PRODUCT:
        return step
    whole = given[line] * turned[line]
    a, b = whole * given[step.left] * first, whole * given[step.right] * second
    if (a, b) in _OF_SUM:
        return Step(_OF_SUM[a, b], step.left, step.right)
    return Step("sub", step.right, step.left)
