"""The entries of the thesis."""

from nalm.papers.entry import Entry
from nalm.papers.mistry2023.entries import (
    benchmark,
    composition,
    division,
    division_appendix,
    division_near_zero,
    division_real_npu,
    examples,
    illustrations,
    losses,
    mlp,
    multiplication,
    properties,
    scaling,
    setups,
)

ENTRIES: tuple[Entry, ...] = (
    *benchmark.ENTRIES,
    *composition.ENTRIES,
    *division.ENTRIES,
    *division_appendix.ENTRIES,
    *division_near_zero.ENTRIES,
    *division_real_npu.ENTRIES,
    *examples.ENTRIES,
    *illustrations.ENTRIES,
    *losses.ENTRIES,
    *mlp.ENTRIES,
    *multiplication.ENTRIES,
    *properties.ENTRIES,
    *scaling.ENTRIES,
    *setups.ENTRIES,
)
