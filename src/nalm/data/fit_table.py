"""The columns of a file that a formula is searched in: targets, features, and what is left out and why."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.data.cell_cures import cure
from nalm.data.columns import Columns, NoNumber, NumbersFile
from nalm.data.text_layout import is_number
from nalm.errors import ArgumentError, FileError, unknown

LEAST_ROWS = 3
"""With fewer rows, a straight line fits whatever they hold."""
_CORRECT = "Correct the cell, or leave it empty and the row will be left out."
_LOOKED_AT = 20
"""So many rows show whether a column holds text."""
_NAMED = 3
"""So many rows are named in a note."""


@dataclass(frozen=True)
class FitTable:
    """A table to fit.

    Attributes:
        features: the names of the columns of x.
        targets: the names of the columns of y.
        x: `rows x features`, float64, finite.
        y: `rows x targets`, float64, finite.
        notes: sentences about what was left out, and about columns that tell nothing.
        first_row: the number of the first row in the file.
        kept: the places of these rows among those of the file; None if all were kept.
    """

    features: list[str]
    targets: list[str]
    x: np.ndarray
    y: np.ndarray
    notes: list[str]
    first_row: int
    kept: np.ndarray | None

    def row_in_file(self, place: int) -> int:
        """The number that a row of the table, counted from 0, has in the file."""
        return self.first_row + (place if self.kept is None else int(self.kept[place]))


def fit_table(file: NumbersFile, targets: Sequence[str], features: Sequence[str] | None = None) -> FitTable:
    """Read target and features from a file.

    Args:
        file: the file.
        targets: the columns to find formulas for.
        features: the columns that formulas may use; they must hold numbers. By default all others, but those
            that hold something else are left out with a note.
    """
    asked = _asked(file, targets, features)
    found = file.read([*asked, *targets])
    notes = _heading_note(file)
    empty = _empty_columns(file, found)
    others = found.others | empty
    _check_held(file, others, [*targets, *(features or ())])
    notes += [_left_out(name, cell) for name, cell in others.items()]
    kept = [name for name in found.names if name not in empty]
    used = [name for name in kept if name in asked]
    if not used:
        hint = "Add the columns that the target may depend on."
        raise FileError(file.path, "has no column of numbers beside the target", hint)
    values = (
        found.values if len(kept) == len(found.names) else found.values[:, [n in kept for n in found.names]]
    )
    _check_finite(file, kept, values)
    whole = _whole_rows(file, values)
    if whole is not None:
        notes.append(_missing_note(file, kept, values, whole))
        values = values[whole]
    notes += file.notes(kept) + _constant_notes(kept, values, targets)
    x, y = values[:, : len(used)], values[:, len(used) :]
    rows = None if whole is None else np.flatnonzero(whole)
    return FitTable(used, list(targets), x, y, notes, file.first_row, rows)


def _asked(file: NumbersFile, targets: Sequence[str], features: Sequence[str] | None) -> list[str]:
    """The names of the features, if all names that were given make sense."""
    for argument, names in (("target", targets), ("features", features or ())):
        for name in names:
            if name not in file.names:
                raise _not_there(argument, name, file)
            if names.count(name) > 1:
                raise ArgumentError(argument, "different columns", f"{name!r} twice")
    both = next((name for name in features or () if name in targets), None)
    if both is not None:
        raise ArgumentError("features", "columns other than the target", repr(both))
    return [name for name in file.names if name not in targets] if features is None else list(features)


def _not_there(argument: str, name: str, file: NumbersFile) -> ArgumentError:
    error = unknown(argument, name, file.names)
    if len(file.names) == 1:
        hint = "Separate columns by commas, semicolons, tabs or blanks."
        return error.with_hint(f"{file.path} has only this column. {hint}")
    if file.has_heading:
        return error
    return error.with_hint(f"{file.path} has no heading: its columns are called {_listed(file.names)}.")


def _heading_note(file: NumbersFile) -> list[str]:
    if file.has_heading:
        return []
    return [f"{file.path.name} has no heading: its columns are called {_listed(file.names)}."]


def _empty_columns(file: NumbersFile, found: Columns) -> dict[str, NoNumber]:
    """The columns without any number."""
    if not len(found.values) and not found.others:
        raise FileError(file.path, "only has a heading, and no rows below it")
    pairs = zip(found.names, found.values.T)
    # The first row decides for nearly every column, and costs nothing.
    return {name: NoNumber(file.first_row, "") for name, c in pairs if np.isnan(c[0]) and np.isnan(c).all()}


def _check_held(file: NumbersFile, others: dict[str, NoNumber], asked: Sequence[str]) -> None:
    """Refuse a column that was asked for and does not hold numbers."""
    for name in asked:
        if name not in others:
            continue
        cell = others[name]
        if not cell.text:
            raise FileError(file.path, f"has no number in column {name}")
        hint = cure(cell.text)
        if not hint and _is_text(file, name):
            what = f"holds text in column {name}, such as {cell}"
            raise FileError(file.path, what, "Choose a column of numbers, or write numbers for the words.")
        raise FileError(file.path, f"has {cell}, column {name}, not a number", hint or _CORRECT)


def _is_text(file: NumbersFile, name: str) -> bool:
    """Whether the first rows hold no number in this column."""
    place = file.names.index(name)
    rows = itertools.islice(file.cells(), _LOOKED_AT)
    return not any(is_number(row[place], file.delimiter) for row in rows)


def _left_out(name: str, cell: NoNumber) -> str:
    if not cell.text:
        return f"Column {name} was left out: it is empty."
    return f"Column {name} was left out: it holds {cell}, which is not a number. {cure(cell.text)}".rstrip()


def _check_finite(file: NumbersFile, names: Sequence[str], values: np.ndarray) -> None:
    for name, column in zip(names, values.T):
        wrong = np.isinf(column)
        if wrong.any():
            row = int(wrong.argmax())
            what = f"has {column[row]} in row {file.first_row + row}, column {name}, not a finite number"
            raise FileError(file.path, what, _CORRECT)


def _whole_rows(file: NumbersFile, values: np.ndarray) -> np.ndarray | None:
    """Which rows have all their numbers; None if all have."""
    whole = ~np.isnan(values).any(axis=1)
    left = int(whole.sum())
    if left < LEAST_ROWS:
        among = " without missing numbers" if left < len(values) else ""
        what = f"has {left} row{'' if left == 1 else 's'} of numbers{among}"
        raise FileError(file.path, what, f"At least {LEAST_ROWS} are needed.")
    return None if left == len(values) else whole


def _missing_note(file: NumbersFile, names: Sequence[str], values: np.ndarray, whole: np.ndarray) -> str:
    rows = file.first_row + np.flatnonzero(~whole)
    columns = [name for name, column in zip(names, values.T) if np.isnan(column).any()]
    what = f"{len(rows):,} of {len(values):,} rows {'were' if len(rows) > 1 else 'was'} left out"
    named = [str(row) for row in rows[:_NAMED]] + ["others"] * (len(rows) > _NAMED)
    return f"{what}, where a number is missing in {_listed(columns, 'column')}: {_listed(named, 'row')}."


def _constant_notes(names: Sequence[str], values: np.ndarray, targets: Sequence[str]) -> list[str]:
    notes = []
    for name, column in zip(names, values.T):
        if column[0] != column[-1] or (column != column[0]).any():
            continue
        if name in targets:
            notes.append(f"The target {name} is {column[0]:g} in every row: there is nothing to explain.")
        else:
            notes.append(
                f"Column {name} is {column[0]:g} in every row: the rows cannot tell whether it matters."
            )
    return notes


def _listed(names: Sequence[str], what: str = "") -> str:
    """Names with commas and "and", after the word for them."""
    told = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{what}{'s' if len(names) > 1 else ''} {told}" if what else told
