"""The entries of Trask et al. 2018."""

from nalm.papers.entry import Entry
from nalm.papers.trask2018.entries import (
    digits,
    grid_world,
    identity,
    language,
    programs,
    recurrent,
    static,
)

ENTRIES: tuple[Entry, ...] = (
    *digits.ENTRIES,
    *grid_world.ENTRIES,
    *identity.ENTRIES,
    *language.ENTRIES,
    *programs.ENTRIES,
    *recurrent.ENTRIES,
    *static.ENTRIES,
)
