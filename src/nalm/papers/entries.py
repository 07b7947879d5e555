"""Every table and figure of the ledger: one line per paper."""

from __future__ import annotations

import re

from nalm.papers.entry import Entry
from nalm.papers.heim2020 import entries as heim2020
from nalm.papers.madsen2020 import entries as madsen2020
from nalm.papers.mistry2023 import entries as mistry2023
from nalm.papers.schloer2020 import entries as schloer2020
from nalm.papers.trask2018 import entries as trask2018

_PAPERS = (trask2018, madsen2020, schloer2020, heim2020, mistry2023)


def _order(entry: Entry) -> tuple[object, ...]:
    """By number in the paper; appendices, which have a letter such as `figG.2` and `appendixB`, last."""
    place = entry.id.partition(":")[2]
    letter = "".join(re.findall(r"[A-Z]", place))
    numbers = tuple(int(part) for part in re.findall(r"\d+", place))
    return (letter, numbers, place)


ENTRIES: dict[str, Entry] = {
    entry.id: entry for paper in _PAPERS for entry in sorted(paper.ENTRIES, key=_order)
}
"""Every table and figure by its id."""
