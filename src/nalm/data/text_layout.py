"""How a text file writes its table: what splits columns, whether there is a heading, where the rows begin."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from nalm.errors import FileError

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""What programs write where there is no number."""
ENCODING = "utf-8-sig"
"""UTF-8; the mark that Windows programs put in front of it is not part of the first name."""
BLANKS = " "
"""Stands for any number of blanks between columns."""
_DELIMITERS = (",", ";", "\t")
_COMMENTS = ("#", "%", "//")
_SEEN = 20
"""So many lines decide what splits columns."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class TextLayout:
    """How a table is written.

    Attributes:
        delimiter: what splits columns.
        heading: the cells of the first row, if they are not all numbers.
        columns: how many there are.
        units: the cells of a second row without any number, above rows of numbers.
        skipped: how many lines come before the first row of numbers.
        has_decimal_commas: whether a comma stands for the decimal point.
    """

    delimiter: str
    heading: list[str] | None
    columns: int
    units: list[str] | None
    skipped: int
    has_decimal_commas: bool


def layout_of(path: Path) -> TextLayout:
    """Look at the first lines of a file."""
    with opened(path) as file:
        lines = list(itertools.islice((line for line in file if line.strip()), _SEEN))
    if not lines:
        raise FileError(path, "is empty")
    delimiter = _delimiter(lines)
    _check_first_lines(path, lines)
    rows = _split(lines, delimiter)
    heading = None if all(is_number(cell, delimiter) for cell in rows[0]) else rows[0]
    units = rows[1] if heading is not None and _has_units(rows, delimiter) else None
    with opened(path) as file:
        skipped = 0 if heading is None else _lines_of_rows(file, delimiter, 1 if units is None else 2)
    commas = delimiter != "," and any(_DECIMAL_COMMA.fullmatch(cell) for row in rows[1:] for cell in row)
    return TextLayout(delimiter, heading, len(rows[0]), units, skipped, commas)


def opened(path: Path) -> TextIO:
    """The file as text, with its own ends of lines."""
    return path.open(encoding=ENCODING, newline="")


def cells_of(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of rows."""
    return map(str.split, lines) if delimiter == BLANKS else csv.reader(lines, delimiter=delimiter)


def is_number(cell: str, delimiter: str) -> bool:
    """Whether a cell is a number; one that is missing is not."""
    return number(cell, delimiter) is not None


def number(cell: str, delimiter: str) -> float | None:
    """The number in a cell; a comma stands for the decimal point if it does not split columns."""
    cell = cell.strip()
    if delimiter != "," and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    if "_" in cell:  # Python reads 1_000 as a number, but nobody writes it in a file
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _delimiter(lines: Sequence[str]) -> str:
    """What splits columns: blanks if nothing else makes as much sense."""
    best = max(_DELIMITERS, key=lambda candidate: _fitness(lines, candidate))
    is_even, share, _ = _fitness(lines, BLANKS)
    return BLANKS if is_even and share > _fitness(lines, best)[1] else best


def _check_first_lines(path: Path, lines: Sequence[str]) -> None:
    """Refuse a file with lines of another kind before its table."""
    if _fitness(lines, _delimiter(lines))[0]:
        return
    for k in range(1, len(lines) - 1):
        delimiter = _delimiter(lines[k:])
        is_even, share, columns = _fitness(lines[k:], delimiter)
        first = lines[k - 1].strip()
        if not first.startswith(_COMMENTS) and len(_split([first], delimiter)[0]) > 1:
            return
        if is_even and share > 0:
            what = f"begins with {lines[0].strip()!r}, which is no heading of {columns} columns"
            raise FileError(
                path, what, "Remove the lines before the heading, or write a name for each column."
            )


def _has_units(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Whether the second row holds no numbers, though they follow below."""
    if len(rows) < 3 or any(is_number(cell, delimiter) for cell in rows[1]):
        return False
    below = [
        [row[k] for row in rows[2:] if k < len(row) and row[k] not in MISSING] for k in range(len(rows[1]))
    ]
    of_numbers = [bool(cells) and all(is_number(cell, delimiter) for cell in cells) for cells in below]
    return any(held and cell not in MISSING for cell, held in zip(rows[1], of_numbers))


def _fitness(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """How well a delimiter fits: all rows alike, then the share of numbers, then the number of columns."""
    rows = _split(lines, delimiter)
    is_even = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    cells = [cell for row in rows[1:] or rows for cell in row]
    share = sum(is_number(cell, delimiter) for cell in cells) / len(cells)
    return is_even, share, len(rows[0])


def _split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in cells_of(lines, delimiter)]


def _lines_of_rows(file: TextIO, delimiter: str, rows: int) -> int:
    """The lines that the first rows take: blank ones before them, and those that a quoted name fills."""
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for line in file:
            read += 1
            if line.strip() or read > 1:
                yield line

    for row in cells_of(counted(), delimiter):
        rows -= any(cell.strip() for cell in row)
        if not rows:
            break
    return read
