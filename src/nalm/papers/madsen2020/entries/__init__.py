"""The entries of Madsen & Johansen 2020."""

from nalm.papers.entry import Entry
from nalm.papers.madsen2020.entries import (
    appendices,
    arithmetic,
    digits,
    illustrations,
)

ENTRIES: tuple[Entry, ...] = (
    *appendices.ENTRIES,
    *arithmetic.ENTRIES,
    *digits.ENTRIES,
    *illustrations.ENTRIES,
)
