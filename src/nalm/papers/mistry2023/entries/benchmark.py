"""Thesis, chapter 3: units compared on the single module task."""

from __future__ import annotations

from nalm.papers.claims import (
    Answer,
    Claim,
    Findings,
    alike,
    at_least,
    better,
    better_in,
    both,
    lower,
    none,
    not_full,
    uneven,
)
from nalm.papers.counted import better_on, full_on, some_on
from nalm.papers.entry import Grid
from nalm.papers.shared.series import Series, label, single_module, table

_SHARED = (Series("NALU", "nalu"), Series("iNALU", "inalu"), Series("G-NALU", "gnalu"))
_SUMS = (*_SHARED, Series("NAC+", "nac"), Series("NAU", "nau"))
_PRODUCTS = (*_SHARED, Series("NAC•", "nac-mul"))
_POWERS = (Series("NPU", "npu"), Series("Real NPU", "realnpu"))
_NARROW = (label("-1.2:-1.1"), label("1.1:1.2"))
_REST = [label(name) for name in ("-20:-10", "-2:-1", "-0.2:-0.1", "-2:2", "0.1:0.2", "1:2", "10:20")]
_NEGATIVE = [label(name) for name in ("-20:-10", "-2:-1", "-1.2:-1.1", "-0.2:-0.1")]
_SMALL = (label("-0.2:-0.1"), label("0.1:0.2"))
_LARGE = (label("-20:-10"), label("10:20"))
_OTHERS = [c for c in (*_REST, *_NARROW) if c not in _LARGE]
_MULTIPLY = ("NALU", "iNALU", "G-NALU", "NAC•", "NMU", "NPU", "Real NPU")
_SECTION = "thesis, section 3.3.2"


def _gap(f: Findings) -> Answer:
    """How much better the NPU is than the Real NPU on U[-2,2); the text has 32 points."""
    npu, real = f.rate("NPU", label("-2:2")), f.rate("Real NPU", label("-2:2"))
    gap = (npu.value or 0) - (real.value or 0)
    least, most = (npu.low or 0) - (real.high or 0), (npu.high or 0) - (real.low or 0)
    detail = f"between {least:.2g} and {most:.2g}"
    return Answer(least <= 0.32 <= most, least <= 0 <= most, paper=0.32, ours=gap, detail=detail)


_LONGER = "100,000 steps, the penalty from 50,000 to 75,000, as in the public programs; table 3.3 has 50,000."

ENTRIES = (
    Grid(
        "mistry2023:fig3.2",
        "Single module, addition",
        _SECTION,
        25,
        table(_SUMS, single_module("add")),
        claims=(
            Claim("iNALU", "takes longer than the NAU", lower("solved at", "NAU", "iNALU")),
            Claim("iNALU", "has a larger sparsity error than the NAU", lower("sparsity", "NAU", "iNALU")),
            Claim(
                "NALU",
                "struggles on U[0.1,0.2), U[10,20) and U[-2,2)",
                not_full("NALU", [label("0.1:0.2"), label("10:20"), label("-2:2")]),
            ),
            Claim(
                "NAC+",
                "is inconsistent over ranges",
                uneven("NAC+"),
            ),
            Claim("G-NALU", "has success on 4 of 9 ranges", some_on("G-NALU", 4)),
            Claim("G-NALU", "is the worst", both(better("NALU", "G-NALU"), better("NAC+", "G-NALU"))),
        ),
    ),
    Grid(
        "mistry2023:fig3.3",
        "Single module, subtraction",
        _SECTION,
        25,
        table(_SUMS, single_module("sub")),
        claims=(
            Claim(
                "NAU",
                "takes over twice the steps on U[-1.2,-1.1) and U[1.1,1.2)",
                lambda f: min(f["NAU", c, "solved at"].value or 0 for c in _NARROW)
                > 2 * max(f["NAU", c, "solved at"].value or 0 for c in _REST),
            ),
            Claim("iNALU", "takes longer than the NAU", lower("solved at", "NAU", "iNALU")),
            Claim("iNALU", "has a larger sparsity error than the NAU", lower("sparsity", "NAU", "iNALU")),
            Claim(
                "NALU, NAC+, G-NALU",
                "have near 0 success on U[-1.2,-1.1) and U[1.1,1.2)",
                both(*(none(row, _NARROW) for row in ("NALU", "NAC+", "G-NALU"))),
            ),
            Claim(
                "iNALU",
                "has at least 40 % success on U[-1.2,-1.1) and U[1.1,1.2)",
                at_least("iNALU", _NARROW, 0.4),
            ),
            Claim("iNALU", "is not full on U[-1.2,-1.1) and U[1.1,1.2)", not_full("iNALU", _NARROW)),
            Claim("NAC+", "is better than the NALU on 4 of 9 ranges", better_on("NAC+", "NALU", 4)),
            Claim("G-NALU", "is better than the NALU on no range", better_on("G-NALU", "NALU", 0)),
        ),
    ),
    Grid(
        "mistry2023:fig3.4",
        "Single module, multiplication",
        _SECTION,
        25,
        table((*_PRODUCTS, Series("NMU", "nmu"), *_POWERS), single_module("mul")),
        claims=(
            Claim(
                "NMU",
                "struggles on U[-1.2,-1.1) and U[-2,-1)",
                not_full("NMU", [label("-1.2:-1.1"), label("-2:-1")]),
            ),
            Claim("NPU", "is like the Real NPU but on U[-2,2)", alike("NPU", "Real NPU", [
                c for c in (*_REST, *_NARROW) if c != label("-2:2")
            ])),
            Claim("NPU", "beats the Real NPU on U[-2,2)", better("NPU", "Real NPU", [label("-2:2")])),
            Claim(
                "NPU",
                "has 32 points more than the Real NPU on U[-2,2)",
                _gap,
            ),
            Claim("NALU", "has full success on no range", not_full("NALU")),
            Claim("NAC•", "has success on 2 ranges", some_on("NAC•", 2)),
            Claim("NAC•", "is better than the NALU on 2 ranges", better_on("NAC•", "NALU", 2)),
            Claim("iNALU", "is better than the NALU on 7 ranges", better_on("iNALU", "NALU", 7)),
            Claim("iNALU", "has full success on 5 ranges", full_on("iNALU", 5)),
            Claim("G-NALU", "is better than the NALU on no range", better_on("G-NALU", "NALU", 0)),
            Claim("all", "no unit has full success on all ranges (4.1)", lambda f: not any(
                all(f.rate(row, c).value == 1 for c in f.columns(row)) for row in _MULTIPLY
            )),
            Claim("all", "all fail on U[-2,-1) and U[-1.2,-1.1) (4.1)", both(
                *(none(row, [label("-2:-1"), label("-1.2:-1.1")]) for row in _MULTIPLY)
            )),
        ),
    ),
    Grid(
        "mistry2023:fig3.5",
        "Single module, division",
        _SECTION,
        25,
        table((*_PRODUCTS, *_POWERS), single_module("div")),
        note=(
            "The NPUs' L1 grows from 1e-9 to 1e-7, as in table E.5 and the public scripts; table E.2 has "
            "1e-7 to 1e-5 without naming an operation. mistry2023:fig5.4 has both."
        ),
        claims=(
            Claim(
                "all",
                "no unit solves all ranges",
                lambda f: not any(
                    all(f.rate(row, c).value == 1 for c in f.columns(row))
                    for row in ("NALU", "iNALU", "G-NALU", "NAC•", "NPU", "Real NPU")
                ),
            ),
            Claim("iNALU", "fully solves 3 of 9 ranges", full_on("iNALU", 3)),
            Claim(
                "iNALU",
                "is the only one with full success on any range",
                lambda f: not any(
                    f.rate(row, c).value == 1
                    for row in ("NALU", "G-NALU", "NAC•", "NPU", "Real NPU")
                    for c in f.columns(row)
                ),
            ),
            Claim("Real NPU", "beats the NPU on negative ranges", better("Real NPU", "NPU", _NEGATIVE)),
            Claim("NAC•", "has success on 4 ranges", some_on("NAC•", 4)),
        ),
    ),
    Grid(
        "mistry2023:fig3.6",
        "Single module with 10 inputs, NAU",
        _SECTION,
        25,
        lambda: [
            *table([Series("NAU, addition", "nau")], single_module("add", inputs=10))(),
            *table([Series("NAU, subtraction", "nau")], single_module("sub", inputs=10))(),
        ],
        note=_LONGER,
        claims=(
            Claim(
                "NAU, addition",
                "has failures on U[-1.2,-1.1) and U[1.1,1.2)",
                not_full("NAU, addition", _NARROW),
            ),
            Claim(
                "NAU, subtraction",
                "is more successful than addition there",
                better("NAU, subtraction", "NAU, addition", _NARROW),
            ),
        ),
    ),
    Grid(
        "mistry2023:fig3.7",
        "Single module with 100 inputs, NAU, subtraction",
        _SECTION,
        25,
        table([Series("NAU", "nau")], single_module("sub", inputs=100)),
        note=_LONGER,
        claims=(Claim("NAU", "has failures on U[-1.2,-1.1) and U[1.1,1.2)", not_full("NAU", _NARROW)),),
    ),
    Grid(
        "mistry2023:fig3.8",
        "Single module with 10 inputs, iNALU, addition",
        _SECTION,
        25,
        table([Series("iNALU", "inalu")], single_module("add", inputs=10)),
        note=_LONGER,
        claims=(
            Claim(
                "iNALU",
                "fails on several ranges",
                lambda f: sum((f.rate("iNALU", c).value or 0) < 1 for c in f.columns("iNALU")) > 1,
            ),
            Claim(
                "iNALU",
                "has reasonable success on the larger ranges only",
                both(
                    at_least("iNALU", _LARGE, 0.5),
                    *(better_in("iNALU", c, d) for c in _LARGE for d in _OTHERS),
                ),
            ),
        ),
    ),
)  # fmt: skip
