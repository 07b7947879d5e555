"""Columns of numbers as files hold them: missing numbers are NaN, and columns of other things are named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nalm.errors import FileError


@dataclass(frozen=True)
class NoNumber:
    """A cell that holds something other than a number.

    Attributes:
        row: its row, counted as `NumbersFile` does.
        text: what it holds.
    """

    row: int
    text: str

    def __str__(self) -> str:
        return f"{self.text!r} in row {self.row}"


@dataclass(frozen=True)
class Columns:
    """What was read.

    Attributes:
        names: the columns that hold numbers.
        values: the numbers, `rows x columns`, float64, a column in one piece of memory; NaN where a number is
            missing.
        others: the columns that hold something else, each with the first cell that shows it.
    """

    names: list[str]
    values: np.ndarray
    others: dict[str, NoNumber]


class NumbersFile(ABC):
    """A file of columns.

    Rows are counted as a reader of the file would: in a text file from its first line with something on it,
    so that the heading is row 1; in other files from the first row of numbers.

    Attributes:
        path: the file.
        names: the names of all columns.
        has_heading: whether the names are the file's own; otherwise they are x0, x1, ….
        first_row: the number of the first row below the heading.
        delimiter: what splits its columns if they are written as text.
        has_decimal_commas: whether decimals are written with a comma.
    """

    path: Path
    names: list[str]
    has_heading: bool = True
    first_row: int = 1
    delimiter: str = ","
    has_decimal_commas: bool = False

    @abstractmethod
    def read(self, names: Sequence[str]) -> Columns:
        """The numbers of some columns, in this order."""

    @abstractmethod
    def cells(self) -> Iterator[list[str]]:
        """Every row as text."""

    def notes(self, names: Sequence[str]) -> list[str]:
        """Sentences about how some columns were read, where it could be meant otherwise."""
        return []

    def _check_names(self) -> None:
        twice = dict.fromkeys(name for name in self.names if self.names.count(name) > 1)
        if twice:
            what = f"has columns with the same name: {_listed(list(twice))}"
            raise FileError(self.path, what, "Give each column a name of its own.")


class Growing:
    """Columns that are filled piece by piece, in little more memory than they need in the end."""

    def __init__(self, names: Sequence[str]) -> None:
        self._held = {name: array("d") for name in names}
        self._others: dict[str, NoNumber] = {}

    @property
    def names(self) -> list[str]:
        """The columns that have held nothing but numbers so far."""
        return list(self._held)

    def add(self, name: str, values: np.ndarray) -> None:
        """Add numbers at the end of a column."""
        self._held[name].frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())

    def refuse(self, name: str, cell: NoNumber) -> None:
        """Give up a column that holds something else."""
        del self._held[name]
        self._others[name] = cell

    def finish(self) -> Columns:
        """What was read; columns are taken over one by one, so that they are never held twice."""
        names = self.names
        rows = max((len(column) for column in self._held.values()), default=0)
        values = np.empty((rows, len(names)), order="F")
        for k, name in enumerate(names):
            values[:, k] = np.frombuffer(self._held.pop(name))
        return Columns(names, values, self._others)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
