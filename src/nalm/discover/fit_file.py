"""From a file of numbers to formulas: what `nalm fit` does."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nalm.data.fit_table import FitTable, fit_table
from nalm.data.numbers_file import open_numbers
from nalm.discover.saved import save_formula
from nalm.errors import NalmError

NONE = "none"
"""The verdict on data for which there is no formula."""
_ROWS = re.compile(r"\b(rows?(?: is| are)? )(\d+(?:, \d+)*)\b")
"""Where a note of the estimator names rows, which it counts from 0."""


@dataclass(frozen=True)
class TargetFit:
    """What was found for one target.

    Attributes:
        target: the name of the column.
        expression: the formula in the names of the columns, as text; None if there is none.
        latex: the same for LaTeX.
        verdict: exact, approximate or none.
        error: the root of the mean squared error on all rows.
        r2: the share of the variance that is explained.
        alternatives: other formulas, each with its relative error and its length.
        notes: what is to be known about the data and the formula.
        seconds: how long the search took.
    """

    target: str
    expression: str | None
    latex: str | None
    verdict: str
    error: float
    r2: float
    alternatives: list[dict[str, Any]]
    notes: list[str]
    seconds: float

    def described(self) -> dict[str, Any]:
        """As plain data, for `--json`; null where there is no finite number."""
        return {
            "expression": self.expression,
            "latex": self.latex,
            "verdict": self.verdict,
            "train_error": _finite(self.error),
            "r2": _finite(self.r2),
            "alternatives": self.alternatives,
            "notes": self.notes,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class FileFit:
    """What was found in a file.

    Attributes:
        table: what was read.
        regressor: the fitted estimator.
        found: what was found, per target.
    """

    table: FitTable
    regressor: Any
    found: list[TargetFit]

    @property
    def is_found(self) -> bool:
        """Whether every target has a formula."""
        return all(one.verdict != NONE for one in self.found)

    def described(self) -> dict[str, Any]:
        """As plain data: of the one target, or of each by its name."""
        if len(self.found) == 1:
            return self.found[0].described()
        return {"targets": {one.target: one.described() for one in self.found}}

    def predicted(self) -> np.ndarray:
        """What the formulas give for the rows of the file, `rows x targets`."""
        made = np.asarray(self.regressor.predict(_named(self.table)), dtype=np.float64)
        return made.reshape(len(self.table.y), -1)

    def save(self, path: Path) -> list[str]:
        """Save the formulas; return the targets that have one."""
        return save_formula(path, self.regressor, targets=self.table.targets)


def fit_file(
    path: Path,
    targets: Sequence[str],
    features: Sequence[str] | None = None,
    *,
    max_seconds: float = 60.0,
    seed: int | None = None,
    jobs: int = 1,
    on_progress: Callable[[Any], None] | None = None,
) -> FileFit:
    """Search the formulas of some columns of a file in others.

    Args:
        path: the file: CSV, TSV or Parquet.
        targets: the columns to find formulas for.
        features: the columns that formulas may use; by default all others that hold numbers.
        max_seconds: when the search ends at the latest.
        seed: the same seed finds the same.
        jobs: how many targets are searched at the same time.
        on_progress: called with the best formula so far.
    """
    table = fit_table(open_numbers(path), targets, features)
    regressor = make_regressor(
        max_seconds=max_seconds, random_state=seed, n_jobs=jobs, on_progress=on_progress
    )
    regressor.fit(_named(table), table.y[:, 0] if len(targets) == 1 else table.y)
    return FileFit(table, regressor, _found(table, regressor))


def make_regressor(**options: Any) -> Any:
    """The estimator, which needs packages that nalm does not install by itself."""
    try:
        import pyarrow  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as error:
        raise NalmError(f"Fitting needs the package {error.name}: pip install 'nalm[fit]'.") from None
    from nalm.discover.regressor import ArithmeticRegressor

    return ArithmeticRegressor(**options)


def _named(table: FitTable) -> Any:
    """The features with their names, in a table that scikit-learn knows; no number is copied."""
    import pyarrow

    return pyarrow.table([pyarrow.array(column) for column in table.x.T], names=table.features)


def _found(table: FitTable, regressor: Any) -> list[TargetFit]:
    names = ("expression_", "latex_", "verdict_", "error_", "r2_", "alternatives_", "notes_")
    held = [getattr(regressor, name) for name in names]
    each = zip(*held) if len(table.targets) > 1 else [held]
    return [
        _one(target, table, regressor.seconds_, *values)
        for target, values in zip(table.targets, each, strict=True)
    ]


def _one(target: str, table: FitTable, seconds: float, *held: Any) -> TargetFit:
    expression, latex, verdict, error, r2, alternatives, notes = held
    is_there = expression is not None and verdict != NONE
    others = [
        {"expression": _text(other.expression), "error": _finite(other.error), "length": int(other.length)}
        for other in alternatives
    ]
    return TargetFit(
        target=target,
        expression=_text(expression) if is_there else None,
        latex=str(latex) if is_there else None,
        verdict=str(verdict),
        error=float(error),
        r2=float(r2),
        alternatives=others,
        notes=[*table.notes, *(_in_rows_of_file(note, table) for note in notes)],
        seconds=float(seconds),
    )


def _text(expression: Any) -> str:
    """A formula as text, without zeros that only fill up its numbers."""
    from sympy import sstr

    return str(sstr(expression, full_prec=False))


def _in_rows_of_file(note: str, table: FitTable) -> str:
    """A note with the numbers that rows have in the file, where readers will look for them."""

    def numbered(found: re.Match[str]) -> str:
        if found["name"] is not None:
            return found[0]
        return found[2] + ", ".join(str(table.row_in_file(int(k))) for k in found[3].split(", "))

    names = sorted((name for name in table.features if _ROWS.search(name)), key=len, reverse=True)
    alike = "|".join(map(re.escape, names)) or "(?!)"  # a column may be called "row 3"
    return re.sub(f"(?P<name>{alike})|{_ROWS.pattern}", numbered, note)


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
