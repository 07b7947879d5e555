"""Numbers in text files: CSV, TSV, and their relatives with semicolons and decimal commas.

All cells are read as text, block by block, and each block of a column becomes numbers in one step. So a cell
that is none is found with its row, wherever it stands, and a file needs little more memory than its numbers.
pyarrow does both if it is installed.
"""

from __future__ import annotations

import csv
import importlib.util
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nalm.data.columns import Columns, Growing, NoNumber, NumbersFile
from nalm.data.text_layout import BLANKS, MISSING, cells_of, is_number, layout_of, number, opened
from nalm.data.thousands import doubtful, thousands_note
from nalm.errors import ArgumentError, FileError

_BLOCK_ROWS = 10_000
_MISSING = frozenset(MISSING)


class TextFile(NumbersFile):
    """A text file of columns split by commas, semicolons, tabs or blanks, with or without heading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._layout = layout = layout_of(path)
        except (OSError, ValueError, csv.Error) as error:
            raise _unreadable(path, error) from None
        self.delimiter, self.has_decimal_commas = layout.delimiter, layout.has_decimal_commas
        self.has_heading = layout.heading is not None
        self.first_row = 1 + self.has_heading + (layout.units is not None)
        self.names = [name or f"x{k}" for k, name in enumerate(layout.heading or [""] * layout.columns)]
        self._check_names()

    def read(self, names: Sequence[str]) -> Columns:
        """The numbers of some columns, in this order."""
        found, row = Growing(names), self.first_row
        try:
            for block in self._blocks({name: self.names.index(name) for name in names}):
                for name in found.names:
                    values, wrong = _numbers(block[name], self.delimiter)
                    if wrong is None:
                        found.add(name, values)
                    else:
                        found.refuse(name, NoNumber(row + wrong, str(block[name][wrong])))
                row += len(block[names[0]])
        except (OSError, ValueError, csv.Error) as error:  # pyarrow's errors are ValueErrors
            raise _unreadable(self.path, error) from None
        return found.finish()

    def cells(self) -> Iterator[list[str]]:
        """Every row as text."""
        with opened(self.path) as file:
            lines = itertools.islice(file, self._layout.skipped, None)
            row = self.first_row
            for cells in cells_of(lines, self.delimiter):
                if len(cells) != len(self.names):
                    if not any(cell.strip() for cell in cells):
                        continue  # a blank line
                    raise self._uneven(len(cells), row)
                yield cells
                row += 1

    def notes(self, names: Sequence[str]) -> list[str]:
        """Sentences about how some columns were read, where it could be meant otherwise."""
        units, rows = self._layout.units, list(itertools.islice(self.cells(), _BLOCK_ROWS))
        notes = []
        if units is not None:
            held = next(cell for cell in units if cell not in _MISSING)
            notes.append(f"Row 2 of {self.path.name} was left out: it holds {held!r}, and no numbers.")
        columns = {
            name: [cell for cell in cells if cell not in _MISSING and is_number(cell, self.delimiter)]
            for name, cells in ((name, self._column(rows, name)) for name in names)
        }
        return notes + [thousands_note(*found) for found in doubtful(columns, self.delimiter).items()]

    def _column(self, rows: Sequence[Sequence[str]], name: str) -> list[str]:
        place = self.names.index(name)
        return [row[place].strip() for row in rows]

    def _blocks(self, places: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        """The cells of some columns, by name, block by block."""
        if self.delimiter == BLANKS or importlib.util.find_spec("pyarrow") is None:
            yield from self._plain_blocks(places)
            return
        from nalm.data.arrow_text import UnevenRow, blocks

        try:
            yield from blocks(self.path, self._layout, places)
        except UnevenRow as error:
            raise self._uneven(error.cells, self.first_row + error.rows_before) from None

    def _plain_blocks(self, places: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        rows = self.cells()
        while block := list(itertools.islice(rows, _BLOCK_ROWS)):
            yield {name: [row[place] for row in block] for name, place in places.items()}

    def _uneven(self, cells: int, row: int) -> ArgumentError:
        what = f"has {cells} cell{'' if cells == 1 else 's'} in row {row}, but {len(self.names)} in row 1"
        return FileError(self.path, what, "Give every row as many cells as there are columns.")


def _unreadable(path: Path, error: Exception) -> ArgumentError:
    if isinstance(error, ArgumentError):
        return error
    why = str(error).partition("\n")[0].rstrip(".")
    if isinstance(error, UnicodeDecodeError) or "UTF8" in why:
        return FileError(path, "is not text in UTF-8", "Save it in UTF-8.")
    return FileError(path, f"cannot be read: {why}")


def _numbers(cells: Any, delimiter: str) -> tuple[np.ndarray, int | None]:
    """The numbers in a block of cells, and the place of the first cell that is none."""
    if not isinstance(cells, list):
        from nalm.data.arrow_text import cast

        values = cast(cells, delimiter)
        if values is not None:
            return values, None
        cells = cells.to_pylist()
    values = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        if cell is None or cell.strip() in _MISSING:
            continue
        found = number(cell, delimiter)
        if found is None:
            return values, k
        values[k] = found
    return values, None
