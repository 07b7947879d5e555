"""`nalm.compose`: the expression of a few steps behind a table of numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nalm.discover.hunt import Hunt, OnFormula
from nalm.discover.judge import judged
from nalm.discover.values import allowed_operations
from nalm.errors import ArgumentError, check_above_zero, check_choice
from nalm.models.unit_graph import UnitGraph
from nalm.second_order.solution import Found
from nalm.symbolic.expression_graph import ExpressionGraph
from nalm.tasks._base import OPERATIONS
from nalm.tasks.tabular import check_finite, column_names, matrix
from nalm.threads import one_thread

MOST_STEPS = 6


@dataclass(frozen=True)
class Composed:
    """What `nalm.compose` returns.

    Attributes:
        graph: the formula as steps; None if none was found.
        found: exact: it fits every row to the precision of the data, and the rows could have contradicted it.
            discrete: it fits every row but the rows do not determine it, or it leaves only noise.
            approximate: it explains more than half of the variance. failed: nothing does.
        notes: sentences about the rows, and about what is left unexplained.
        r2: the share of the variance that is explained, on all rows.
        names: the names of the columns.
        alternatives: other formulas that fit every row as well, but compute something else.
        seconds: the time it took.
    """

    graph: ExpressionGraph | None
    found: Found
    notes: tuple[str, ...]
    r2: float
    names: tuple[str, ...]
    alternatives: tuple[ExpressionGraph, ...]
    seconds: float

    @property
    def expression(self) -> Any:
        """The formula in sympy, in the names of the columns; None if none was found."""
        return None if self.graph is None else self.graph.shortest(self.names)

    @property
    def model(self) -> nn.Module:
        """The formula as a network of units, in double precision, which can be trained and read."""
        if self.graph is None:
            raise ArgumentError("found", "exact, discrete or approximate to have a model", str(self.found))
        return UnitGraph(self.graph, dtype=torch.float64)

    def __str__(self) -> str:
        formula = "no formula" if self.graph is None else str(self.expression)
        return " ".join([f"{formula} ({self.found}, R2 {self.r2:.6g}).", *self.notes])


def compose(
    x: Any,
    y: Any,
    *,
    steps: int = 4,
    ops: Sequence[str] = OPERATIONS,
    names: Sequence[str] | None = None,
    max_seconds: float = 60.0,
    on_formula: OnFormula | None = None,
) -> Composed:
    """Find the shortest expression of at most so many steps that gives y.

    A step adds, subtracts, multiplies or divides two columns or earlier steps. Shorter expressions come
    first, and of those that fit, the first is returned; the others are its alternatives. Constants are not
    part of the language, apart from those that steps make, such as a + a.

    Args:
        x: inputs, `n x in`: a tensor, an array, a list of rows, or a DataFrame.
        y: targets, `n` or `n x 1`, of the same kinds, or a Series.
        steps: the most steps, from 0 to 6.
        ops: some of add, sub, mul and div.
        names: names of the columns of x; by default those of the DataFrame, or x1, x2, ….
        max_seconds: when to give up and return the best formula so far.
        on_formula: called with each better formula, as an `ExpressionGraph`, and the share of the variance
            that it leaves unexplained.

    Example:
        >>> x = torch.rand(100, 4, dtype=torch.float64) + 1
        >>> found = nalm.compose(x, (x[:, 0] + x[:, 1]) / x[:, 2], names=["a", "b", "c", "d"])
        >>> print(found.found, found.expression)
        exact (a + b)/c
    """
    began = time.monotonic()
    inputs, target, columns = _table(x, y, names)
    _check(steps, ops, max_seconds)
    hunt = Hunt(inputs, target, steps, allowed_operations(ops), began + max_seconds, on_formula)
    with torch.inference_mode(False), torch.no_grad(), one_thread():
        # No formula of sums and products is always zero.
        graphs = hunt.exact() if bool(target.any()) else []
        graph = graphs[0] if graphs else hunt.best() if bool(target.any()) else None
        found, notes, r2 = judged(graph, graphs[1:], inputs, target, columns)
    if hunt.is_late:
        notes = [*notes, f"The search was ended after {max_seconds:g} s."]
    seconds = time.monotonic() - began
    kept = graph if found is not Found.FAILED else None
    return Composed(kept, found, tuple(notes), r2, tuple(columns), tuple(graphs[1:]), seconds)


def _table(x: Any, y: Any, names: Sequence[str] | None) -> tuple[Tensor, Tensor, list[str]]:
    """Inputs, targets, and the names of the columns of the inputs."""
    columns = column_names(x, names)
    inputs, targets = matrix("x", x), matrix("y", y)
    if len(targets) != len(inputs):
        raise ArgumentError("y", f"of {len(inputs)} rows like x", f"{len(targets)} rows")
    if targets.shape[-1] != 1:
        raise ArgumentError("y", "one column; compose several one after the other", f"{targets.shape[-1]}")
    if not len(inputs) or not inputs.shape[-1]:
        raise ArgumentError("x", "a table with a row and a column or more", f"shape {tuple(inputs.shape)}")
    if columns is not None and len(columns) != inputs.shape[-1]:
        raise ArgumentError("names", f"{inputs.shape[-1]} names, one per column of x", f"{len(columns)}")
    if columns is not None and len(set(columns)) != len(columns):
        raise ArgumentError("names", "all different", ", ".join(columns))
    columns = columns or [f"x{k + 1}" for k in range(inputs.shape[-1])]
    check_finite("x", inputs, columns)
    check_finite("y", targets, None)
    return inputs, targets[:, 0].contiguous(), columns


def _check(steps: int, ops: Sequence[str], max_seconds: float) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= MOST_STEPS:
        raise ArgumentError("steps", f"a whole number from 0 to {MOST_STEPS}", repr(steps))
    if isinstance(ops, str) or not isinstance(ops, Sequence) or not ops:
        raise ArgumentError("ops", f"a list of some of {', '.join(OPERATIONS)}", repr(ops))
    for op in ops:
        check_choice("ops", op, OPERATIONS)
    check_above_zero("max_seconds", max_seconds)
