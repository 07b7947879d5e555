"""Rows of results in a file, one JSON object a line: written as they come, read again by a later run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def kept(store: Path) -> list[Row]:
    """Rows of earlier runs; a last line that was cut is removed, so that what follows can be read."""
    text = store.read_text(encoding="utf-8") if store.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        store.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def keeping(rows: Iterable[Row], store: Path) -> Iterator[Row]:
    """The same rows, each written down before it is given."""
    with store.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, default=str) + "\n")
            file.flush()
            yield row
