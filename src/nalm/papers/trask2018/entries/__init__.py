"""The entries of Trask et al. 2018."""

from nalm.papers.entry import Entry
from nalm.papers.trask2018.entries import (
    digits,
    identity,
    language,
    programs,
    recurrent,
    static,
)

ENTRIES: tuple[Entry, ...] = (
    *digits.ENTRIES,
    *identity.ENTRIES,
    *language.ENTRIES,
    *programs.ENTRIES,
    *recurrent.ENTRIES,
    *static.ENTRIES,
)
