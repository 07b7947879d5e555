"""How a text file writes its table: what splits columns, whether there is a heading, where the rows begin."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from nalm.errors import ArgumentError

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""What programs write where there is no number."""
ENCODING = "utf-8-sig"
"""UTF-8; the mark that Windows programs put in front of it is not part of the first name."""
_DELIMITERS = (",", ";", "\t")
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
        skipped: how many lines come before the first row of numbers.
        has_decimal_commas: whether a comma stands for the decimal point.
    """

    delimiter: str
    heading: list[str] | None
    columns: int
    skipped: int
    has_decimal_commas: bool


def layout_of(path: Path) -> TextLayout:
    """Look at the first lines of a file."""
    with opened(path) as file:
        lines = list(itertools.islice((line for line in file if line.strip()), _SEEN))
    if not lines:
        raise ArgumentError("data", "a file with rows", f"{path}, which is empty")
    delimiter = max(_DELIMITERS, key=lambda candidate: _fitness(lines, candidate))
    rows = _split(lines, delimiter)
    heading = None if all(is_number(cell, delimiter) for cell in rows[0]) else rows[0]
    with opened(path) as file:
        skipped = 0 if heading is None else _lines_of_heading(file, delimiter)
    commas = delimiter != "," and any(_DECIMAL_COMMA.fullmatch(cell) for row in rows[1:] for cell in row)
    return TextLayout(delimiter, heading, len(rows[0]), skipped, commas)


def opened(path: Path) -> TextIO:
    """The file as text, with its own ends of lines."""
    return path.open(encoding=ENCODING, newline="")


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


def _fitness(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """How well a delimiter fits: all rows alike, then the share of numbers, then the number of columns."""
    rows = _split(lines, delimiter)
    is_even = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    cells = [cell for row in rows[1:] or rows for cell in row]
    share = sum(is_number(cell, delimiter) for cell in cells) / len(cells)
    return is_even, share, len(rows[0])


def _split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]


def _lines_of_heading(file: TextIO, delimiter: str) -> int:
    """The lines up to the end of the heading: blank ones before it, and those that a quoted name fills."""
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for line in file:
            read += 1
            if line.strip() or read > 1:
                yield line

    for row in csv.reader(counted(), delimiter=delimiter):
        if any(cell.strip() for cell in row):
            break
    return read
