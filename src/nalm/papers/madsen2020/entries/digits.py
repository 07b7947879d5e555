"""Madsen & Johansen 2020, section 4.2 and appendix D: running products and sums of MNIST digits."""

from __future__ import annotations

from dataclasses import replace

from nalm.papers.claims import Claim, alike, better, better_in, both, lower, some
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import THREE
from nalm.papers.shared.digit_figures import draw_lengths
from nalm.papers.shared.digits import DigitLayout, DigitRow, by_length, length
from nalm.papers.shared.sequential_digits import (
    PRODUCT,
    PRODUCT_NOTE,
    SEEDS,
    SOLVED,
    SOLVED_PRODUCT,
    SUM,
    with_r_z,
    without_r_z,
)

NAC_NMU = DigitRow("NAC•,NMU", "nac-mul(weight=linear)", PRODUCT)
NMU = DigitRow("NMU", "nmu", PRODUCT)
PLAIN_PRODUCTS = (
    DigitRow("NAC•,σ", "nac-mul(weight=sigmoid)", PRODUCT),
    DigitRow("NAC•", "nac-mul", PRODUCT),
    DigitRow("LSTM", "lstm", PRODUCT),
    DigitRow("NALU", "nalu", PRODUCT),
)
"""Those that never have R_z."""
NAU = DigitRow("NAU", "nau", SUM)
SOLVED_SUM = DigitRow(SOLVED, "add", SUM)
PLAIN_SUMS = (
    DigitRow("NAC+,Rz", "nac", SUM, with_r_z("nau", SUM)),
    DigitRow("NAC+", "nac", SUM),
    DigitRow("LSTM", "lstm", SUM),
    DigitRow("NALU", "nalu", SUM),
)
WITH = ", with R_z"
"""Added to the names of rows of figures 4 and 13 in figures 15 and 14, which leave R_z out."""
_LONGER = tuple(length(n) for n in range(3, 21))
_SUM_NOTE = (
    "The paper states neither steps, batch nor strengths of penalties; ours are those of sequential products "
    "(1000 epochs, batches of 64, Adam 1e-3, penalty 10 in steps 10,000 to 100,000, R_z 1). They are "
    "85,000 steps here, in which the penalty reaches 83 % of its strength. R_z of the "
    "NAC+,Rz has the strength of the NAU's."
)


def _without(row: DigitRow) -> DigitRow:
    return replace(row, change=without_r_z)


def _named_with(row: DigitRow) -> DigitRow:
    return replace(row, row=row.row + WITH)


def _study(
    number: int, title: str, rows: tuple[DigitRow, ...], claims: tuple[Claim, ...], note: str
) -> TrainedStudy:
    layout = DigitLayout(f"madsen2020:fig{number}", rows, SEEDS, by_length(SOLVED), always=(SOLVED,))
    source = {4: "section 4.2", 13: "appendix D.2", 14: "appendix D.3", 15: "appendix D.4"}[number]
    return TrainedStudy(
        layout.entry, title, source, layout.compute, layout.plan,
        metrics=THREE, in_parts=True, claims=claims, note=note, draw=draw_lengths,
    )  # fmt: skip


ENTRIES = (
    _study(
        4,
        "Sequential MNIST, product",
        (SOLVED_PRODUCT, NAC_NMU, *PLAIN_PRODUCTS, NMU),
        (
            Claim("NMU", "does not hinder learning to read: succeeds at the length of training",
                  some("NMU", [length(2)])),
            Claim("NMU", "extrapolates to much longer sequences", some("NMU", _LONGER)),
            Claim("NMU", "outperforms NAC•, NALU and LSTM",
                  both(*(better("NMU", row) for row in ("NAC•", "NALU", "LSTM")))),
            Claim("NMU", "is faster than the NAC•", lower("solved at", "NMU", "NAC•")),
            Claim("NMU", "is sparser than the NAC•", lower("sparsity", "NMU", "NAC•")),
        ),
        PRODUCT_NOTE,
    ),
    _study(
        13,
        "Sequential MNIST, sum",
        (SOLVED_SUM, *PLAIN_SUMS, NAU),
        (
            Claim("NAU", "outperforms NAC+, NALU and LSTM",
                  both(*(better("NAU", row) for row in ("NAC+", "NALU", "LSTM")))),
            Claim("NAU", "is sparser than the NAC+", lower("sparsity", "NAU", "NAC+")),
        ),
        _SUM_NOTE,
    ),
    _study(
        14,
        "Sequential MNIST, sum, NAU without R_z",
        (SOLVED_SUM, *PLAIN_SUMS, _without(NAU), _named_with(NAU)),
        (
            Claim("NAU", "without R_z has less success", better("NAU" + WITH, "NAU")),
            Claim("NAU", "without R_z has more success on longer sequences",
                  better_in("NAU", length(1000), length(10))),
        ),
        f"{_SUM_NOTE} The row with R_z is that of figure 13.",
    ),
    _study(
        15,
        "Sequential MNIST, product, without R_z",
        (SOLVED_PRODUCT, _without(NAC_NMU), *PLAIN_PRODUCTS, _without(NMU),
         _named_with(NAC_NMU), _named_with(NMU)),
        (
            *(Claim(row, "has about the success that it has with R_z", alike(row, row + WITH))
              for row in ("NMU", "NAC•,NMU")),
            Claim("NMU, NAC•,NMU", "are less sparse than with R_z", both(
                *(lower("sparsity", row + WITH, row) for row in ("NMU", "NAC•,NMU")))),
        ),
        f"{PRODUCT_NOTE} Rows with R_z are those of figure 4.",
    ),
)  # fmt: skip
