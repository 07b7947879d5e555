"""What tells the cells of results apart. It imports nothing, so that lists and pages are quick."""

from __future__ import annotations

from typing import Any

Cell = dict[str, Any]
"""A cell as plain data, as `nalm reproduce --json` writes it."""
FORMULA = "formula"
"""The source of what an equation says, which no training can contradict."""
SENTENCE = "sentence"
"""The source of what a paper says in words."""
TOGETHER = "all columns together"
"""The column of a row's runs taken together."""


def is_rate(metric: str | None) -> bool:
    """Whether a metric is a share of runs that succeed."""
    return "success" in (metric or "")


def is_together(cell: Cell) -> bool:
    """Whether the cell is a row's runs taken together."""
    return bool(cell["column"].startswith(TOGETHER))
