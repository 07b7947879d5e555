"""The entries of the thesis."""

from nalm.papers.entry import Entry
from nalm.papers.mistry2023.entries import (
    benchmark,
    division,
    division_appendix,
    division_near_zero,
    division_real_npu,
    illustrations,
    losses,
    mlp,
    multiplication,
    scaling,
    setups,
)

ENTRIES: tuple[Entry, ...] = (
    *benchmark.ENTRIES,
    *division.ENTRIES,
    *division_appendix.ENTRIES,
    *division_near_zero.ENTRIES,
    *division_real_npu.ENTRIES,
    *illustrations.ENTRIES,
    *losses.ENTRIES,
    *mlp.ENTRIES,
    *multiplication.ENTRIES,
    *scaling.ENTRIES,
    *setups.ENTRIES,
)
