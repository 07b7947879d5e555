"""The entries of Trask et al. 2018."""

from nalm.papers.entry import Entry
from nalm.papers.trask2018.entries import (
    identity,
    recurrent,
    static,
)

ENTRIES: tuple[Entry, ...] = (
    *identity.ENTRIES,
    *recurrent.ENTRIES,
    *static.ENTRIES,
)
