"""From a saved formula and a file of numbers to predictions: what `nalm predict` does."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np

from nalm.data.cell_cures import cure
from nalm.data.columns import NumbersFile
from nalm.discover.saved import SavedFormula
from nalm.errors import ArgumentError, FileError, nearest

_BLOCK = 10_000
_CORRECT = "Correct the cell, or leave it empty and the row gets no prediction."


@dataclass(frozen=True)
class Predicted:
    """Predictions for the rows of a file.

    Attributes:
        values: `rows x targets`; NaN where there is none.
        notes: sentences about rows outside the data that were fitted, and rows without prediction.
    """

    values: np.ndarray
    notes: list[str]


def predict_file(formula: SavedFormula, file: NumbersFile) -> Predicted:
    """What a formula gives for every row of a file."""
    columns, rows = _columns(formula, file)
    found = formula.predict(columns, rows)
    missing = np.zeros(rows, dtype=bool)
    for column in columns.values():
        missing |= np.isnan(column)
    notes = file.notes(formula.needed) + _outside_notes(formula, file, columns, rows)
    notes += _empty_note(file, missing, "a number is missing in a column that the formula needs")
    without = ~np.isfinite(found).all(axis=1) & ~missing
    notes += _empty_note(file, without, "the formula has no value, as where it divides by zero")
    return Predicted(found, notes)


def write_predictions(out: TextIO, file: NumbersFile, names: Sequence[str], predicted: Predicted) -> None:
    """Write the columns of a file and the predictions, as the file is written itself."""
    writer = csv.writer(out, delimiter=file.delimiter, lineterminator="\n")
    writer.writerow([*file.names, *names])
    rows = _as_text(predicted.values, file.has_decimal_commas)
    writer.writerows([*cells, *more] for cells, more in zip(file.cells(), rows, strict=True))


def check_columns(names: Sequence[str], formula: SavedFormula, file: NumbersFile) -> None:
    """Refuse names of columns that are not one per target, or that the file has already."""
    if len(names) != len(formula.targets):
        raise ArgumentError("column", f"as many names as targets, {len(formula.targets)}", str(len(names)))
    twice = next((name for name in names if name in file.names or names.count(name) > 1), None)
    if twice is not None:
        got = f"{twice!r}, which is one of {file.path} or is given twice"
        raise ArgumentError("column", "a new name", got, "Choose others with --column.")


def _columns(formula: SavedFormula, file: NumbersFile) -> tuple[dict[str, np.ndarray], int]:
    """The columns that the formula needs, and the number of rows."""
    needed = formula.needed
    gone = [name for name in needed if name not in file.names]
    if gone:
        close = [name for name in (nearest(name, file.names) for name in gone) if name]
        what = f"has no column {', '.join(map(repr, gone))}, which the formula needs"
        raise FileError(file.path, what, f"Did you mean {', '.join(map(repr, close))}?" if close else "")
    if not needed:
        return {}, sum(1 for _ in file.cells())
    found = file.read(needed)
    for name, cell in found.others.items():
        raise FileError(file.path, f"has {cell}, column {name}, not a number", cure(cell.text) or _CORRECT)
    return dict(zip(found.names, found.values.T)), len(found.values)


def _outside_notes(
    formula: SavedFormula, file: NumbersFile, columns: dict[str, np.ndarray], rows: int
) -> list[str]:
    beyond = formula.outside(columns, rows)
    anywhere = np.logical_or.reduce([np.zeros(rows, dtype=bool), *beyond.values()])
    if not anywhere.any():
        return []
    row = int(anywhere.argmax())
    name = next(name for name, mask in beyond.items() if mask[row])
    low, high = formula.box[formula.names.index(name)]
    told = (
        f"in row {file.first_row + row}, {name} is {columns[name][row]:g}, where {low:g} to {high:g} was seen"
    )
    first = "" if anywhere.sum() == 1 else "; first "
    return [f"{_rows(anywhere)} outside the data that were fitted{first or ': '}{told}."]


def _empty_note(file: NumbersFile, mask: np.ndarray, why: str) -> list[str]:
    if not mask.any():
        return []
    where = f"{'first ' if mask.sum() > 1 else ''}in row {file.first_row + int(mask.argmax())}"
    return [f"{_rows(mask, 'have', 'has')} no prediction, because {why}: {where}."]


def _rows(mask: np.ndarray, several: str = "are", one: str = "is") -> str:
    return f"{mask.sum():,} of {len(mask):,} rows {several if mask.sum() > 1 else one}"


def _as_text(values: np.ndarray, has_decimal_commas: bool) -> Iterator[list[str]]:
    """The cells of every row; empty where there is no finite number."""
    for start in range(0, len(values), _BLOCK):
        for row in values[start : start + _BLOCK].tolist():
            cells = [repr(value) if math.isfinite(value) else "" for value in row]
            yield [cell.replace(".", ",") for cell in cells] if has_decimal_commas else cells
