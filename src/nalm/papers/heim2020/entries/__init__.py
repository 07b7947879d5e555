"""The entries of Heim et al. 2020."""

from nalm.papers.entry import Entry
from nalm.papers.heim2020.entries import (
    epidemic,
    tables,
)

ENTRIES: tuple[Entry, ...] = (*tables.ENTRIES, *epidemic.ENTRIES)
