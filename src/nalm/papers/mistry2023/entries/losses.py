"""Thesis, chapter 6: other losses."""

from __future__ import annotations

from nalm.papers.claims import Claim, alike, better, both, full, lower, none, not_full, some, total, worst
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.changes import loss
from nalm.papers.mistry2023.division_units import MIXED, MODIFIED, NEGATIVE, NMRU, NRU, POSITIVE, UNIFORM
from nalm.papers.mistry2023.entries.multiplication import ARITHMETIC, NMU, QUICK, SNMU
from nalm.papers.shared.series import Series, label, single_module, table
from nalm.recipes import MAPE, PCC, PCCThenMSE

_PLAIN = ("MSE", "PCC", "MAPE")
_SWITCH = 25_000.0
"""With 10 inputs: the default of the public program; the thesis gives no value."""


def _losses(series: Series, switch: float) -> tuple[Series, ...]:
    return (
        Series("MSE", series.model),
        Series("PCC", series.model, loss(PCC())),
        Series("MAPE", series.model, loss(MAPE())),
        Series("PCC-MSE", series.model, loss(PCCThenMSE(switch))),
    )


def _single(id: str, series: Series, claims: tuple[Claim, ...]) -> Grid:
    return Grid(
        id,
        f"Division with redundancy, {series.label}: losses",
        "thesis, section 6.3.3",
        25,
        table(_losses(series, _SWITCH), single_module("div", inputs=10)),
        claims=claims,
        note="PCC-MSE switches at step 25,000, the default of the public program; the thesis states none.",
    )


def _stacked(id: str, series: Series, claims: tuple[Claim, ...]) -> Grid:
    return Grid(
        id,
        f"Arithmetic dataset, multiplication, {series.label}: losses",
        "thesis, section 6.3.1",
        20,
        table(_losses(series, 750_000.0), ARITHMETIC),
        quick_steps=QUICK,
        claims=claims,
    )


ENTRIES = (
    _stacked(
        "mistry2023:fig6.2",
        NMU,
        (
            Claim("MAPE", "has no success", none("MAPE")),
            Claim("PCC-MSE", "has success on all ranges", some("PCC-MSE")),
        ),
    ),
    _stacked("mistry2023:fig6.3", SNMU, (Claim("MAPE", "has no success", none("MAPE")),)),
    _single(
        "mistry2023:fig6.6",
        MODIFIED,
        (
            Claim("MSE", "fails on U[-2,2)", none("MSE", [MIXED])),
            *(Claim(row, "has success on U[-2,2)", some(row, [MIXED])) for row in ("PCC", "MAPE", "PCC-MSE")),
            *(
                Claim(
                    row,
                    "has less success than MSE on the other negative ranges",
                    better("MSE", row, NEGATIVE),
                )
                for row in ("PCC", "MAPE")
            ),
            Claim("PCC", "is especially fast on all ranges", both(
                *(lower("solved at", "PCC", "MSE", [c]) for c in (*NEGATIVE, *POSITIVE))
            )),
            Claim(
                "PCC-MSE",
                "is like PCC",
                alike("PCC-MSE", "PCC"),
            ),
        ),
    ),
    _single(
        "mistry2023:fig6.7",
        NRU,
        (
            *(Claim(row, "performs well on positive ranges", full(row, POSITIVE)) for row in _PLAIN),
            *(Claim(row, "finds negative ranges challenging", not_full(row, NEGATIVE)) for row in _PLAIN),
            *(Claim(row, "has little effect", alike(row, "MSE")) for row in _PLAIN if row != "MSE"),
            Claim("PCC", "has successes on negative ranges", some("PCC", NEGATIVE)),
        ),
    ),
    _single(
        "mistry2023:fig6.8",
        NMRU,
        (
            Claim("PCC-MSE", "struggles the most", worst("PCC-MSE", _PLAIN)),
            Claim("all", "U[-20,-10) is the most troublesome range", lambda f: min(
                UNIFORM, key=lambda c: sum(total(f, row, [c]) for row in (*_PLAIN, "PCC-MSE"))
            ) == label("-20:-10")),
            Claim("all", "near full success on U[-2,2) for three of the four losses", lambda f: sum(
                total(f, row, [MIXED]) >= 0.8 for row in (*_PLAIN, "PCC-MSE")
            ) >= 3),
        ),
    ),
)  # fmt: skip
