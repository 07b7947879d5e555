"""The ledger: entries and those of their results that are kept with the project."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm.papers.agreement import Agreement

if TYPE_CHECKING:
    from nalm.papers.entry import Entry

_HERE = Path(__file__).parent


@functools.cache
def results_folder() -> Path | None:
    """The folder of results: next to this file in an installed package, under benchmarks in a checkout."""
    for folder in (_HERE / "results", _HERE.parents[2] / "benchmarks" / "results"):
        if folder.is_dir():
            return folder
    return None


def file_name(entry: str) -> str:
    """The name of an entry's files, without extension."""
    return entry.replace(":", "-")


def kept_result(entry: str) -> dict[str, Any] | None:
    """The result of an entry, if one is kept with the project."""
    folder = results_folder()
    file = None if folder is None else folder / f"{file_name(entry)}.json"
    if file is None or not file.exists():
        return None
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def keep(result: dict[str, Any]) -> None:
    """Write a result to the folder of results, as the command writes it."""
    folder = results_folder()
    assert folder is not None, "there is no folder for results"
    text = json.dumps(result, indent=2, allow_nan=False)
    file = folder / f"{file_name(result['id'])}.json"
    unfinished = file.with_suffix(".part")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(file)  # at once: an interruption leaves the old result or the new one


def listing(entries: Iterable[Entry] | None = None) -> list[dict[str, Any]]:
    """One row per entry: the number of its cells, in all and by verdict; 0 if it has no result.

    Args:
        entries: the entries to list; by default those of this package.
    """
    if entries is None:
        from nalm.papers.entries import ENTRIES

        entries = ENTRIES.values()
    return [_row(entry.id, entry.title, kept_result(entry.id)) for entry in entries]


def _row(entry: str, title: str, result: dict[str, Any] | None) -> dict[str, Any]:
    cells = result["cells"] if result is not None else []
    counts = Counter(cell["verdict"] for cell in cells)
    return {
        "id": entry,
        "title": title,
        "protocol": result["protocol"] if result is not None else None,
        "cells": len(cells),
        **{str(verdict): counts[str(verdict)] for verdict in Agreement},
        "weak": sum(cell["weak"] and cell["verdict"] == Agreement.AGREES for cell in cells),
    }
