"""The units of chapter 5 of the thesis and the ranges that its claims, and those of chapter 6, are about."""

from __future__ import annotations

from nalm.papers.shared.series import Series, label
from nalm.tasks import RANGE_SETS, RangeTask, Reciprocal, SingleModule

BASELINE = Series("Real NPU", "realnpu")
MODIFIED = Series("Real NPU (mod)", "realnpu@modified")
NRU = Series("NRU", "nru")
NMRU = Series("NMRU", "nmru(exact_evaluation=true)")
"""Without epsilon in evaluation, as in public code: see `NMRU_NOTE`."""
NMRU_NOTE = (
    "The NMRU leaves the epsilon of its equation out in evaluation, as public code does; mistry2023:fig5.6 "
    "also has it as printed, which differs on U[-2,2) (docs/fidelity.md)."
)
THREE = (MODIFIED, NRU, NMRU)
UNIFORM = [label(name) for name in RANGE_SETS["uniform"]]
NEGATIVE, POSITIVE = UNIFORM[:4], UNIFORM[5:]
MIXED = label("-2:2")


def near_zero(inputs: int | None) -> dict[str, RangeTask]:
    """Tasks close to zero: reciprocals of the first of `inputs` inputs, or for None quotients of two."""
    return {
        label(name): SingleModule("div", name) if inputs is None else Reciprocal("reciprocal", name, inputs)
        for name in RANGE_SETS["near-zero"]
    }
