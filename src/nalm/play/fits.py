"""Formulas of a user's rows in a worker: the best so far while the search runs, and what was found."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nalm.data.numbers_file import open_numbers
from nalm.discover.fit_file import FileFit, fit_file
from nalm.errors import NalmError
from nalm.play.asked import MOST_COLUMNS, Columns, Fitting
from nalm.report.fit_tables import MEANINGS
from nalm.report.short_formula import with_few_digits

_DRAWN = 500
"""How many rows are drawn, predicted against true."""


def columns(asked: Columns, tell: Callable[[str, Any], None]) -> dict[str, Any]:
    """The names of the columns of a file, and the number of its rows."""
    with _as_file(asked) as path:
        file = open_numbers(path)
        if len(file.names) > MOST_COLUMNS:
            raise NalmError(
                f"These are {len(file.names)} columns, and this page takes {MOST_COLUMNS}; "
                "`nalm fit --features` chooses some of them."
            )
        return {"names": list(file.names), "has_heading": file.has_heading}


def fit(asked: Fitting, tell: Callable[[str, Any], None]) -> dict[str, Any]:
    """Search a formula, and tell the page about every better one."""
    columns(asked, tell)  # refuses too many of them
    best = float("inf")

    def on_progress(progress: Any) -> None:
        nonlocal best
        said = {"seconds": progress.seconds, "stage": progress.stage}
        if progress.expression is not None and progress.error < best:
            best = progress.error
            said |= {"formula": with_few_digits(str(progress.expression)), "error": best}
        tell("point", said)

    with _as_file(asked) as path, warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        found = fit_file(path, [asked.target], max_seconds=asked.seconds, seed=0, on_progress=on_progress)
        return _answer(found)


@contextlib.contextmanager
def _as_file(asked: Columns) -> Iterator[Path]:
    """The rows as a file of the working folder, so that messages name it as the user does."""
    own = asked.folder / str(os.getpid())
    own.mkdir(exist_ok=True)
    with contextlib.chdir(own):
        path = Path(asked.name)
        path.write_bytes(asked.data)
        try:
            yield path
        finally:
            path.unlink()


def _answer(found: FileFit) -> dict[str, Any]:
    (one,) = found.found
    drawn = slice(None, None, -(-len(found.table.y) // _DRAWN))
    there = one.expression is not None
    predicted = found.predicted()[drawn, 0] if there else np.empty(0)
    pairs = np.column_stack([found.table.y[drawn, 0], predicted]) if there else np.empty((0, 2))
    return {
        **one.described(),
        "target": one.target,
        "meaning": MEANINGS.get(one.verdict, ""),
        "rows": len(found.table.y),
        "pairs": pairs[np.isfinite(pairs).all(-1)].tolist(),
    }
