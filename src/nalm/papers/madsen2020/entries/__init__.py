"""The entries of Madsen & Johansen 2020."""

from nalm.papers.entry import Entry
from nalm.papers.madsen2020.entries import (
    arithmetic,
    illustrations,
)

ENTRIES: tuple[Entry, ...] = (
    *arithmetic.ENTRIES,
    *illustrations.ENTRIES,
)
