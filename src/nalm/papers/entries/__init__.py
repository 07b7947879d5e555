"""One spec for every table and figure of the ledger."""

from __future__ import annotations

import re

from nalm.papers.entries import (
    heim,
    illustrations,
    inalu_authors,
    madsen,
    nalu_identity,
    nalu_recurrent,
    nalu_static,
    thesis_benchmark,
    thesis_division,
    thesis_division_more,
    thesis_losses,
    thesis_mlp,
    thesis_multiplication,
    thesis_scaling,
    thesis_setups,
)
from nalm.papers.entry import Entry

_MODULES = (
    illustrations,
    nalu_identity,
    nalu_recurrent,
    nalu_static,
    madsen,
    heim,
    inalu_authors,
    thesis_benchmark,
    thesis_multiplication,
    thesis_division,
    thesis_losses,
    thesis_division_more,
    thesis_scaling,
    thesis_mlp,
    thesis_setups,
)
_PAPERS = ("trask2018", "madsen2020", "schloer2020", "heim2020", "mistry2023")


def _order(entry: Entry) -> tuple[object, ...]:
    """By paper, and by number in it, appendices last."""
    paper, _, place = entry.id.partition(":")
    numbers = tuple(int(part) for part in re.findall(r"\d+", place))
    return (_PAPERS.index(paper), "figG" in place, numbers, place)


ENTRIES: dict[str, Entry] = {
    entry.id: entry
    for entry in sorted((entry for module in _MODULES for entry in module.ENTRIES), key=_order)
}
"""Every table and figure by its id."""
