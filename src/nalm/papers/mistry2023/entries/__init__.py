"""The entries of the thesis."""

from nalm.papers.entry import Entry
from nalm.papers.mistry2023.entries import (
    benchmark,
    composition,
    digits_division,
    digits_product,
    digits_sequential,
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
    *digits_division.ENTRIES,
    *digits_product.ENTRIES,
    *digits_sequential.ENTRIES,
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
