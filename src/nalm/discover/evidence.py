"""What rows can tell: whether a formula that fits them all may be called exact.

It may, if no other formula is as good on these rows: they carry more information than it takes to choose
one formula among all of as many steps, and no column can be replaced by others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.discover.search import Search
from nalm.discover.values import Values
from nalm.second_order.precision import tolerance
from nalm.second_order.verdict import BITS_TO_SPARE, bits_per_row
from nalm.symbolic.expression_graph import ExpressionGraph

_TYPICAL, _MOST_TYPICAL = 0.5, 1.0
"""The root of the mean squared residual of a right formula is below this per step, and below that in all, in
roundings of the numbers that it is computed from; single residuals may be larger."""
_BIAS = 4.0
"""Roundings are zero on average: their mean is below this many standard errors, and a little more."""
_FEW_VALUES = 3
"""The powers of a column with so many different values, such as -1, 0 and 1, may be that column itself."""
MORE_ROWS = 3
"""The rows that there must be beyond the number of columns, to tell which columns depend on others."""
_COPIES = 2
"""A column counts as replaceable if so many steps on the others give it."""
_MOST_COLUMNS = 12
"""With more columns, only sums and products of powers are looked for."""


def fits(graph: ExpressionGraph, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Which rows a formula fits to the precision of the data, and how far off it may be, both shape `n`.

    Args:
        graph: the formula.
        x: inputs, `n x in`.
        y: targets, `n`.
    """
    with torch.enable_grad():
        free = x.clone().requires_grad_()
        outputs = graph(free)
        slopes = torch.autograd.grad(outputs.sum(), free)[0] if outputs.requires_grad else torch.zeros_like(x)
    usual = min(_MOST_TYPICAL, _TYPICAL * len(graph.steps))
    allowed, typical = (tolerance(x, y[:, None], slopes[:, None], *most)[:, 0] for most in ((), (usual,)))
    left = outputs.detach() - y
    met = left.abs() <= allowed
    share = (left / typical.clamp_min(torch.finfo(y.dtype).tiny))[met]
    return met & are_roundings(share), allowed


def are_roundings(share: Tensor, bias: float = 0.03) -> bool:
    """Whether residuals, in units of what is typical, are as small as most roundings, and zero on average.

    Noise, or a term that was left out, may be within the largest roundings that are possible.

    Args:
        share: the residuals.
        bias: how far from zero their mean may be, beyond chance.
    """
    if not len(share):
        return False
    spread = float(share.square().mean().sqrt())
    return spread <= 1 and abs(float(share.mean())) <= _BIAS * spread / math.sqrt(len(share)) + bias


def doubts(graph: ExpressionGraph, x: Tensor, y: Tensor, allowed: Tensor, names: Sequence[str]) -> list[str]:
    """Sentences on why rows that a formula fits do not determine it; none if they do."""
    rows = len(torch.cat([x, y[:, None]], -1).unique(dim=0))
    if rows < x.shape[1] + MORE_ROWS:
        return [f"{rows} distinct rows are too few to tell {x.shape[1]} columns apart."]
    needed = bits_of(graph) + BITS_TO_SPARE
    if rows * bits_per_row(x, y[:, None], allowed[:, None]) < needed:
        return [f"{rows} distinct rows contain too little information to choose among all such formulas."]
    precision = max(1e-9, 16 * float((allowed / y.abs().clamp_min(1e-300)).median()))
    few = [_few_values(names[k], x[:, k]) for k in graph.used_inputs]
    return [*_constants(graph, x, names), *filter(None, few), *dependent_columns(x.numpy(), names, precision)]


def _few_values(name: str, column: Tensor) -> str:
    """A sentence if functions of a column cannot be told apart; empty if they can."""
    count = len(column.unique())
    if not 1 < count <= _FEW_VALUES:
        return ""
    return f"Column {name} has only {count} different values: its powers cannot be told apart."


def bits_of(graph: ExpressionGraph) -> float:
    """The bits that it takes to choose a formula among those of as many steps."""
    bits = math.log2(graph.inputs)
    for k in range(len(graph.steps)):
        lines = graph.inputs + k
        bits += math.log2(6 * lines * (lines - 1) / 2 + 4 * lines) - math.log2(k + 1)
    return bits


def _constants(graph: ExpressionGraph, x: Tensor, names: Sequence[str]) -> list[str]:
    """Sentences on constant columns that the formula reads, or may leave out by mistake."""
    found = []
    for k, column in enumerate(x.unbind(-1)):
        value = float(column[0])
        if not bool((column == value).all()):
            continue
        if k in graph.used_inputs:
            found.append(f"Column {names[k]} is always {value:g}: the formula may mean another number.")
        elif value in (-1.0, 0.0, 1.0):
            found.append(f"Column {names[k]} is always {value:g}: whether the formula reads it is not seen.")
    return found


def dependent_columns(
    x: np.ndarray, names: Sequence[str], precision: float, used: Sequence[int] | None = None
) -> list[str]:
    """Sentences on columns that others could replace.

    Args:
        x: inputs, `n x in`.
        names: the names of the columns.
        precision: the relative precision to which columns are compared.
        used: the columns that matter; all by default.
    """
    varying = [k for k in range(x.shape[1]) if np.ptp(x[:, k]) > 0]
    wanted = set(varying if used is None else used)
    found = []
    sums = _tied(x[:, varying], precision) if varying else []
    if wanted & {varying[k] for k in sums}:
        found.append(_sentence([names[varying[k]] for k in sums], "a weighted sum"))
    sizes = [k for k in varying if np.ptp(np.abs(x[:, k])) > 0 and (x[:, k] != 0).all()]
    products = [sizes[k] for k in _tied(np.log(np.abs(x[:, sizes])), precision)] if sizes else []
    if wanted & set(products) and products != [varying[k] for k in sums]:
        found.append(_sentence([names[k] for k in products], "a product of powers"))
    if found or len(varying) > _MOST_COLUMNS:
        return found
    for k in sorted(wanted & set(varying)):
        others = [j for j in varying if j != k]
        if others and _is_expression(x[:, k], x[:, others], precision):
            found.append(f"Column {names[k]} is an expression of others: the rows cannot tell them apart.")
    return found


def _sentence(names: Sequence[str], how: str) -> str:
    """Which columns depend on each other."""
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"Columns {listed} are tied by {how}, to the precision of the data: the rows cannot tell them apart."
    )


def _tied(columns: np.ndarray, precision: float) -> list[int]:
    """The columns that take part in a weighted sum that is constant."""
    centred = columns - columns.mean(0)
    scaled = centred / np.abs(columns).max(0).clip(min=1e-300)
    _, sizes, directions = np.linalg.svd(np.linalg.qr(scaled, mode="r"))
    free = directions[: len(sizes)][sizes <= precision * math.sqrt(len(columns))]
    if not len(free):
        return []
    return np.flatnonzero(np.abs(free).max(0) > 1e-3).tolist()


def _is_expression(column: np.ndarray, others: np.ndarray, precision: float) -> bool:
    """Whether a formula of few steps of the others gives the column."""
    rows = probe_rows(others, column)
    values = Values(others[rows], _ALL, 1_000_000)
    for steps in range(_COPIES + 1):
        while values.depth < steps:
            if not values.deepen():
                return False
        for graph in Search(values, column[rows], precision).graphs(steps):
            with np.errstate(all="ignore"):
                if np.all(np.abs(graph(others) - column) <= precision * np.abs(column).max()):
                    return True
    return False


_ALL = ("add", "sub", "minus", "mul", "div", "inverse", "reciprocal", "negative")
_PROBED = 8


def probe_rows(x: np.ndarray, y: np.ndarray, most: int = _PROBED) -> np.ndarray:
    """The rows to search with: distinct, without zeros where possible, and with numbers of usual size."""
    with np.errstate(all="ignore"):
        sizes = np.abs(np.column_stack([x, y]))
        usual = np.median(np.where(sizes > 0, sizes, np.nan), axis=0)
        unusual = np.abs(np.log(sizes / usual))
    unusual[:, ~np.isfinite(usual)] = 0.0  # a column of zeros
    score = np.where(np.isnan(unusual), 0.0, unusual).max(1)
    order = np.argsort(score, kind="stable")
    _, first = np.unique(np.column_stack([x, y])[order], axis=0, return_index=True)
    distinct = order[np.sort(first)]
    whole = int(np.isfinite(score[distinct]).sum())  # without zeros
    # Rows with zeros only where there are hardly any others: nothing can be divided by a zero.
    usable = whole if whole >= _PROBED // 2 else len(distinct)
    usual_half = distinct[: min(max(most, len(distinct) // 2), usable)]
    chosen = usual_half[np.linspace(0, len(usual_half) - 1, min(most, len(usual_half))).astype(int)]
    # Values are sorted by the first row, so that no two columns should be equal there, nor their sum zero.
    sizes = np.sort(np.abs(np.column_stack([x, y])[chosen]), axis=1)
    gaps = np.where(sizes[:, 0] > 0, np.diff(sizes, axis=1).min(1), -1.0)
    return chosen[np.argsort(-gaps, kind="stable")]
