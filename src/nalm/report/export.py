"""Runs as a file for other programs: CSV, Parquet or JSON, one row per run.

In CSV, curves and weights are written as JSON in their columns; in Parquet, curves are lists of numbers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nalm.errors import ArgumentError, NalmError, check_choice
from nalm.report.files import check_output, written_whole

_AS_TEXT = ("weights", "machine", "cost")


def write_runs(runs: Sequence[dict[str, Any]], path: Path, form: str) -> None:
    """Write all runs; if that fails, an existing file is not changed."""
    write = FORMATS[check_choice("format", form, FORMATS)]
    if str(path) == "-":
        hint = "For JSON on standard output use `nalm runs --json -`."
        raise ArgumentError("output", "the name of a file", "'-'", hint)
    check_output(path)
    with written_whole(path) as part:
        write(runs, part)


def flat(run: dict[str, Any]) -> dict[str, Any]:
    """A run without nesting, except for the lists of its curve."""
    row = {name: value for name, value in run.items() if name != "curve"}
    row |= {name: json.dumps(row[name]) for name in _AS_TEXT}
    return row | {f"curve_{name}": values for name, values in run["curve"].items()}


def _write_csv(runs: Sequence[dict[str, Any]], path: Path) -> None:
    rows = [flat(run) for run in runs]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [])
        writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()})


def _write_json(runs: Sequence[dict[str, Any]], path: Path) -> None:
    path.write_text(json.dumps({"runs": list(runs)}, allow_nan=False) + "\n", encoding="utf-8")


def _write_parquet(runs: Sequence[dict[str, Any]], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise NalmError("Parquet needs the package pyarrow: pip install 'nalm[export]'.") from None
    parquet.write_table(pyarrow.Table.from_pylist([flat(run) for run in runs]), path)


FORMATS: dict[str, Callable[[Sequence[dict[str, Any]], Path], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "json": _write_json,
}
"""Writers by the name of their format."""
