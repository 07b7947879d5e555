"""The entries of Schlör, Ring, Hotho 2020."""

from nalm.papers.entry import Entry
from nalm.papers.schloer2020.entries import (
    experiments,
)

ENTRIES: tuple[Entry, ...] = (*experiments.ENTRIES,)
