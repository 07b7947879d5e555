"""What second-order training can be used for, said before any work."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError

MOST_PARAMETERS = 4096
"""The normal equations of more would take gigabytes, and minutes a step."""


def check_size(model: nn.Module) -> None:
    """Refuse a model with more parameters than the method can hold."""
    size = sum(p.numel() for p in model.parameters())
    if size > MOST_PARAMETERS:
        expected = f"one of at most {MOST_PARAMETERS:,} parameters for second-order training"
        hint = "Train it with `nalm.train` and a first-order recipe, such as the published one, instead."
        raise ArgumentError("model", expected, f"{size:,}", hint)


def check_rows(x: Tensor, y: Tensor, names: Sequence[str]) -> None:
    """Refuse rows with numbers that are not finite."""
    for argument, table, columns in (("x", x, names), ("y", y, None)):
        wrong = (~table.isfinite()).nonzero()
        if len(wrong):
            row, column = wrong[0].tolist()
            where = f" in column {columns[column]}" if columns is not None else ""
            raise ArgumentError(
                argument, "finite everywhere", f"{table[row, column].item()} in row {row}{where}"
            )


def dependent_columns(x: Tensor, names: Sequence[str]) -> list[str]:
    """A sentence for each column that the others leave undetermined: constant, or a combination of others."""
    notes: list[str] = []
    kept: list[int] = []
    size = x.abs().amax(0).clamp_min(torch.finfo(x.dtype).tiny)
    scaled = x / size
    for column, name in enumerate(names):
        values = scaled[:, column]
        if bool((values == values[0]).all()):
            value = f"{float(x[0, column]):g}"
            notes.append(f"Column {name} is constant ({value}): its part cannot be told from a constant.")
            continue
        others = _combination(scaled[:, kept], values) if kept else None
        if others is None:
            kept.append(column)
            continue
        used = [names[kept[k]] for k in others]
        if len(used) == 1:
            same = bool((x[:, column] == x[:, kept[others[0]]]).all())
            relation = "equal" if same else "proportional"
            notes.append(f"Columns {used[0]} and {name} are {relation}: either could stand for the other.")
        else:
            notes.append(f"Column {name} is a combination of {', '.join(used)}.")
    return notes


def _combination(columns: Tensor, values: Tensor) -> list[int] | None:
    """Which of these columns give the values exactly; None if they do not."""
    for k in range(columns.shape[-1]):  # a single one first: least squares would spread over equal columns
        factor = (columns[:, k] @ values) / (columns[:, k] @ columns[:, k])
        if _small(columns[:, k] * factor - values, values):
            return [k]
    if columns.shape[-1] >= len(values):
        return None  # fewer rows than columns: everything is a combination, which says nothing
    weights = torch.linalg.lstsq(columns, values[:, None]).solution
    if not _small(columns @ weights - values[:, None], values):
        return None
    return [k for k in range(len(weights)) if abs(float(weights[k])) > 1e-6]


def _small(off: Tensor, values: Tensor) -> bool:
    return bool(off.abs().max() <= 1e-10 * values.abs().max())
