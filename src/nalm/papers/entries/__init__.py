"""One spec for every table and figure of the ledger."""

from __future__ import annotations

import re

from nalm.papers.entries import (
    inalu_authors,
    thesis_benchmark,
    thesis_division,
    thesis_division_more,
    thesis_losses,
    thesis_multiplication,
)
from nalm.papers.entry import Entry

_MODULES = (
    inalu_authors,
    thesis_benchmark,
    thesis_multiplication,
    thesis_division,
    thesis_losses,
    thesis_division_more,
)


def _order(entry: Entry) -> tuple[object, ...]:
    """By paper, and by number in it."""
    paper, _, place = entry.id.partition(":")
    years = {"trask2018": 0, "madsen2020": 1, "schloer2020": 2, "heim2020": 3, "mistry2023": 4}
    numbers = tuple(int(part) if part.isdigit() else 0 for part in re.findall(r"\d+", place))
    return (years[paper], "figG" in place, numbers, place)


ENTRIES: dict[str, Entry] = {
    entry.id: entry
    for entry in sorted((entry for module in _MODULES for entry in module.ENTRIES), key=_order)
}
"""Every table and figure by its id."""
