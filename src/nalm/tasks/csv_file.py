"""Tables of nothing but numbers from files, for tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nalm.data.columns import Columns, NoNumber, NumbersFile
from nalm.data.numbers_file import ENDINGS, open_numbers
from nalm.errors import FileError, unknown

__all__ = ["ENDINGS", "CsvFile", "read_csv"]


@dataclass(frozen=True)
class CsvFile:
    """The numbers of a file.

    Attributes:
        path: the file.
        names: the names of the columns.
        values: the numbers, `rows x columns`, float64.
    """

    path: Path
    names: list[str]
    values: np.ndarray

    def split(self, target: str | None = None) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The names of the inputs, the inputs `n x in` and the targets `n`.

        Args:
            target: the column to predict; by default the last.
        """
        target = self.names[-1] if target is None else target
        if target not in self.names:
            raise unknown("target", target, self.names)
        if len(self.names) < 2:
            raise FileError(self.path, "has one column", "At least two are needed.")
        place = self.names.index(target)
        others = [k for k in range(len(self.names)) if k != place]
        return [self.names[k] for k in others], self.values[:, others], self.values[:, place]


def read_csv(path: Path | str) -> CsvFile:
    """Read a file, CSV, TSV or Parquet; anything but a number is refused with its row and column."""
    file = open_numbers(path)
    found = file.read(file.names)
    wrong = _wrong_cells(file, found)
    if wrong:
        name = min(wrong, key=lambda name: wrong[name].row)
        cell = wrong[name]
        what = f"has {repr(cell.text) if cell.text else 'nothing'} in row {cell.row}, column {name}"
        raise FileError(
            file.path, f"{what}, not a number", "Remove such rows or columns from the file first."
        )
    if not len(found.values):
        raise FileError(file.path, "only has a heading, and no rows below it")
    return CsvFile(file.path, file.names, found.values)


def _wrong_cells(file: NumbersFile, found: Columns) -> dict[str, NoNumber]:
    """The first cell of each column that holds no number."""
    wrong = dict(found.others)
    for name, column in zip(found.names, found.values.T):
        missing = np.isnan(column)
        if missing.any():
            wrong[name] = NoNumber(file.first_row + int(missing.argmax()), "")
    return wrong
