"""Tables of numbers from text files: columns split by commas, semicolons or tabs, with or without heading."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nalm.errors import ArgumentError, unknown

ENDINGS = (".csv", ".tsv", ".txt")
_DELIMITERS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


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
            raise ArgumentError("data", "two columns or more", f"one column in {self.path}")
        place = self.names.index(target)
        others = [k for k in range(len(self.names)) if k != place]
        return [self.names[k] for k in others], self.values[:, others], self.values[:, place]


def read_csv(path: Path | str) -> CsvFile:
    """Read a file; anything but a number is refused with its row and column."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError("data", "a readable text file", f"{path}: {error}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ArgumentError("data", "a file with rows", f"{path}, which is empty")
    delimiter = max(_DELIMITERS, key=lines[0].count)
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    heading = None if all(_is_number(cell, delimiter) for cell in rows[0]) else rows.pop(0)
    names = _names(heading, len(rows[0]) if rows else 0, path)
    first = 1 if heading is None else 2
    values = [_numbers(row, names, first + k, delimiter, path) for k, row in enumerate(rows)]
    if not values:
        raise ArgumentError("data", "a file with rows of numbers", f"{path}, which only has a heading")
    return CsvFile(path, names, np.array(values, dtype=np.float64))


def _names(heading: list[str] | None, columns: int, path: Path) -> list[str]:
    """The names in the heading; x0, x1, … without one."""
    if heading is None:
        return [f"x{k}" for k in range(columns)]
    named = [name or f"x{k}" for k, name in enumerate(heading)]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError("data", "a file whose columns have different names", f"{twice!r} twice in {path}")
    return named


def _numbers(row: list[str], names: list[str], line: int, delimiter: str, path: Path) -> list[float]:
    if len(row) != len(names):
        got = f"{len(row)} in row {line} of {path}"
        raise ArgumentError("data", f"rows of {len(names)} numbers, like the first row", got)
    for name, cell in zip(names, row):
        if not _is_number(cell, delimiter):
            got = f"{repr(cell) if cell else 'nothing'} in row {line}, column {name}, of {path}"
            hint = "Remove such rows or columns from the file first."
            raise ArgumentError("data", "numbers below the heading", got, hint)
    return [float(_with_point(cell, delimiter)) for cell in row]


def _is_number(cell: str, delimiter: str) -> bool:
    try:
        float(_with_point(cell, delimiter))
    except ValueError:
        return False
    return True


def _with_point(cell: str, delimiter: str) -> str:
    """The cell with a decimal point instead of a comma, if commas do not split columns."""
    return cell.replace(",", ".") if delimiter != "," and _DECIMAL_COMMA.fullmatch(cell) else cell
