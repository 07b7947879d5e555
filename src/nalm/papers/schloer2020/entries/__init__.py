"""The entries of Schlör, Ring, Hotho 2020."""

from nalm.papers.entry import Entry
from nalm.papers.schloer2020.entries import (
    experiments,
    variations,
)

ENTRIES: tuple[Entry, ...] = tuple(
    sorted((*experiments.ENTRIES, *variations.ENTRIES), key=lambda entry: entry.id)
)
