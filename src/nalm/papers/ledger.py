"""The ledger: entries and their results, those that are kept with the project."""

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
    """Where results are: in an installed package next to this file, in a checkout under benchmarks."""
    for folder in (_HERE / "results", _HERE.parents[2] / "benchmarks" / "results"):
        if folder.is_dir():
            return folder
    return None


def file_name(entry: str) -> str:
    """The name of an entry's files, without an ending."""
    return entry.replace(":", "-")


def kept_result(entry: str) -> dict[str, Any] | None:
    """The result of an entry that is kept with the project."""
    folder = results_folder()
    file = None if folder is None else folder / f"{file_name(entry)}.json"
    if file is None or not file.exists():
        return None
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def keep(result: dict[str, Any]) -> None:
    """Write a result to where results are kept, as the command writes it."""
    folder = results_folder()
    assert folder is not None, "there is no folder of results"
    text = json.dumps(result, indent=2, allow_nan=False)
    (folder / f"{file_name(result['id'])}.json").write_text(text + "\n", encoding="utf-8")


def listing(entries: Iterable[Entry] | None = None) -> list[dict[str, Any]]:
    """One row an entry: how many cells it has, and of which verdict. Without a result there are none.

    Args:
        entries: which; by default all of ours.
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
    }
