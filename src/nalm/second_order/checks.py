"""Checks made before second-order training: whether it can be used, and which columns are redundant."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError
from nalm.models.composite import Composite
from nalm.tasks import Table, Task
from nalm.units import outer_units

MOST_PARAMETERS = 4096
"""The normal equations of more parameters would take gigabytes, and minutes per step."""


def check_task(task: Task) -> None:
    """Refuse a task that cannot draw any number of rows, or whose inputs are no rows of numbers."""
    if isinstance(task, Table):
        hint = "For a table use `nalm.solve(model, x, y)`."
        raise ArgumentError("data", "a task that can draw any number of rows", "a table", hint)
    if len(task.input_shape) != 1:
        expected = f"one that trains step by step: an input of {task.name} is no row of numbers"
        raise ArgumentError("recipe", expected, "second-order")


def check_model(model: nn.Module) -> None:
    """Refuse a model with nothing to train, with too many parameters, or with discrete choices to learn."""
    composite = next((unit for unit in outer_units(model) if isinstance(unit, Composite)), None)
    if composite is not None:
        expected = "made of units whose weights alone decide what is computed, for second-order training"
        raise ArgumentError("model", expected, f"a {type(composite).__name__}, which chooses between units")
    size = sum(p.numel() for p in model.parameters())
    if size > MOST_PARAMETERS:
        expected = f"a model of at most {MOST_PARAMETERS:,} parameters for second-order training"
        hint = "Train it with `nalm.train` and a first-order recipe instead, such as the published one."
        raise ArgumentError("model", expected, f"one of {size:,}", hint)
    if not any(p.requires_grad for p in model.parameters()):
        raise ArgumentError("model", "a model with a parameter that is not frozen", type(model).__name__)


def column_notes(x: Tensor, names: Sequence[str]) -> list[str]:
    """A sentence for each column that others could replace: exactly, nearly, or as a product."""
    exactly = _dependent(x, names)
    return [*_few_rows(x), *exactly.values(), *_nearly_dependent(x, names, set(exactly))]


def dependent_columns(x: Tensor, names: Sequence[str]) -> list[str]:
    """A sentence for each column whose weight is undetermined: constant, or a combination of others."""
    return [*_few_rows(x), *_dependent(x, names).values()]


def _few_rows(x: Tensor) -> list[str]:
    rows, columns = x.shape
    if rows >= columns:
        return []
    return [f"There are fewer rows ({rows}) than columns ({columns}): many different weights fit them."]


def _dependent(x: Tensor, names: Sequence[str]) -> dict[int, str]:
    rows, columns = x.shape
    notes: dict[int, str] = {}
    scaled = x / x.abs().amax(0).clamp_min(torch.finfo(x.dtype).tiny)
    constant = (scaled == scaled[0]).all(0)
    kept: list[int] = []
    basis = scaled.new_zeros(rows, min(rows, columns))
    for column, name in enumerate(names):
        values = scaled[:, column]
        if constant[column]:
            value = f"{float(x[0, column]):g}"
            notes[column] = f"Column {name} is constant ({value}): its effect is that of a constant term."
        rest = _without(_without(values, basis[:, : len(kept)]), basis[:, : len(kept)])  # twice, for rounding
        length = torch.linalg.vector_norm(rest)
        if length > _RANK * torch.linalg.vector_norm(values):
            basis[:, len(kept)] = rest / length
            kept.append(column)
        elif not constant[column] and len(kept) < rows:
            notes[column] = _dependence(x, scaled, kept, column, names)
    return notes


_RANK = 1e-13
"""The part of a column that others do not explain counts as rounding below this share of it."""
_NEAR = 0.01
"""Others could replace a column if they leave less than this share of its deviation unexplained."""


def _nearly_dependent(x: Tensor, names: Sequence[str], known: set[int]) -> list[str]:
    """A sentence for each column that others equal to two digits: as a sum plus a constant, or a product."""
    notes = []
    logarithms = x.abs().clamp_min(torch.finfo(x.dtype).tiny).log()
    for table, kind in ((x, "combination"), (logarithms, "product of powers")):
        for column, used, left in _near(table, known):
            known = known | {column}
            digits = "exactly" if left < 1e-12 else f"to {100 * left:.1g} % of its deviation"
            others = ", ".join(names[k] for k in used)
            notes.append(f"Column {names[column]} is a {kind} of {others}, {digits}: they could replace it.")
    return notes


def _near(table: Tensor, known: set[int]) -> list[tuple[int, list[int], float]]:
    """Columns that nearly depend on earlier ones: the column, those columns, and the share that is left."""
    centred = table - table.mean(0)
    scaled = centred / torch.linalg.vector_norm(centred, dim=0).clamp_min(torch.finfo(table.dtype).tiny)
    found: list[tuple[int, list[int], float]] = []
    kept: list[int] = []
    basis = scaled.new_zeros(len(table), min(table.shape))
    for column in range(table.shape[-1]):
        values, before = scaled[:, column], basis[:, : len(kept)]
        if column in known or len(kept) + 2 >= len(table) or not values.any():
            continue  # reported already, too few rows to decide, or constant
        rest = _without(_without(values, before), before)
        left = float(torch.linalg.vector_norm(rest))
        if left < _NEAR:
            weights = torch.linalg.lstsq(scaled[:, kept], values[:, None], driver="gelsd").solution[:, 0]
            found.append((column, [k for k, w in zip(kept, weights.abs().tolist()) if w > _NEAR], left))
            continue
        basis[:, len(kept)] = rest / left
        kept.append(column)
    return found


def _without(values: Tensor, basis: Tensor) -> Tensor:
    return values - basis @ (basis.T @ values)


def _dependence(x: Tensor, scaled: Tensor, kept: list[int], column: int, names: Sequence[str]) -> str:
    """A sentence that says which columns determine this one."""
    values, name = scaled[:, column], names[column]
    for other in kept:  # a single column first: least squares would spread over several
        factor = (scaled[:, other] @ values) / (scaled[:, other] @ scaled[:, other])
        if (scaled[:, other] * factor - values).abs().max() <= 1e-12:
            relation = "equal" if torch.equal(x[:, other], x[:, column]) else "proportional"
            return f"Columns {names[other]} and {name} are {relation}: either could replace the other."
    weights = torch.linalg.lstsq(scaled[:, kept], values[:, None]).solution[:, 0]
    used = [names[kept[k]] for k in range(len(kept)) if abs(float(weights[k])) > 1e-6]
    return f"Column {name} is a combination of {', '.join(used)}."
