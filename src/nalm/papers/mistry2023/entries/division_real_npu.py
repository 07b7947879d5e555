"""Thesis, sections 5.4 and 5.9: how the Real NPU is modified to divide."""

from __future__ import annotations

from nalm.papers.claims import Claim, alike, best, better, better_everywhere, both, none
from nalm.papers.counted import better_on
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.changes import (
    CLIP_GATE,
    CLIP_W,
    bounds,
    initialise,
    l1_growth,
    more_penalties,
    penalties,
    several,
)
from nalm.papers.mistry2023.division_units import MIXED, UNIFORM
from nalm.papers.shared.series import Series, label, single_module, table
from nalm.recipes import Discretise, Initialise, Ramp

_PUBLIC = "Values swept and strengths as in the public scripts."
_BETAS = ((1e-11, 1e-9), (1e-9, 1e-7), (1e-8, 1e-6), (1e-7, 1e-5), (1e-5, 1e-3), (1e-3, 1e-1), (1e-1, 10.0))
_LATE = Ramp(40e3, 50e3)
_GATE_TO_BIT = Discretise(1.0, _LATE, values="0,1", of="gates")
_W_TO_SIGN = Discretise(1.0, _LATE, values="-1,1", of="W")
_CLIPPED = bounds(CLIP_W, CLIP_GATE)
_DISCRETE = several(_CLIPPED, more_penalties(_W_TO_SIGN, _GATE_TO_BIT))


def _beta(first: float, last: float) -> Series:
    return Series(f"({first:.0e},{last:.0e})", "realnpu", l1_growth(first, last))


ENTRIES = (
    Grid(
        "mistry2023:fig5.4",
        "Division, Real NPU: L1",
        "thesis, section 5.4",
        25,
        table(
            (
                Series("L1 on", "realnpu"),
                Series("L1 off", "realnpu", penalties()),
                *(_beta(*pair) for pair in _BETAS),
            ),
            single_module("div"),
        ),
        note=f"{_PUBLIC} They sweep seven pairs, that of `L1 on` among them; the text says six.",
        claims=(
            Claim(
                "L1 off",
                "is better on U[-1.2,-1.1) and U[1.1,1.2)",
                better("L1 off", "L1 on", [label("-1.2:-1.1"), label("1.1:1.2")]),
            ),
            Claim("L1 on", "is better on five ranges", better_on("L1 on", "L1 off", 5)),
            Claim("L1 off", "is better on two ranges", better_on("L1 off", "L1 on", 2)),
            Claim(
                "(1e-09,1e-07)",
                "is the best pair over all ranges",
                best("(1e-09,1e-07)", [f"({a:.0e},{b:.0e})" for a, b in _BETAS]),
            ),
            Claim("all", "larger values are worse", both(
                *(better("(1e-09,1e-07)", f"({a:.0e},{b:.0e})") for a, b in _BETAS if a > 1e-9)
            )),
        ),
    ),
    Grid(
        "mistry2023:fig5.5",
        "Division, Real NPU: clipping, discretisation, initialisation",
        "thesis, section 5.4",
        25,
        table(
            (
                Series("no clip", "realnpu"),
                Series("clip G", "realnpu", bounds(CLIP_GATE)),
                Series("clip W", "realnpu", bounds(CLIP_W)),
                Series("clip GW", "realnpu", _CLIPPED),
                Series("clip GW, discretise G", "realnpu", several(_CLIPPED, more_penalties(_GATE_TO_BIT))),
                Series("clip GW, discretise GW", "realnpu", _DISCRETE),
                Series(
                    "clip GW, discretise GW, NAU init",
                    "realnpu",
                    several(_DISCRETE, initialise(Initialise("weight", "nau"))),
                ),
            ),
            single_module("div"),
        ),
        note=_PUBLIC,
        claims=(
            *(
                Claim(
                    row,
                    "improves on the baseline on all ranges but U[1,2) and U[-2,2)",
                    better_everywhere(row, "no clip", [c for c in UNIFORM if c not in (label("1:2"), MIXED)]),
                )
                for row in ("clip W", "clip GW")
            ),
            Claim("all clips", "fail on U[-2,2)", both(
                *(none(row, [MIXED]) for row in ("no clip", "clip G", "clip W", "clip GW"))
            )),
            Claim(
                "clip GW, discretise G",
                "improves on no discretisation",
                better("clip GW, discretise G", "clip GW"),
            ),
            Claim(
                "clip GW, discretise GW",
                "improves on discretised gates alone",
                better("clip GW, discretise GW", "clip GW, discretise G"),
            ),
            Claim(
                "clip GW, discretise GW, NAU init",
                "improves on Xavier",
                better("clip GW, discretise GW, NAU init", "clip GW, discretise GW"),
            ),
        ),
    ),
    Grid(
        "mistry2023:fig5.16",
        "Division with redundancy, Real NPU: values that weights are drawn to",
        "thesis, section 5.9",
        25,
        table(
            (
                Series("{-1,1}", "realnpu@modified"),
                Series("{-1,0,1}", "realnpu@modified-zero"),
            ),
            single_module("div", inputs=10),
        ),
        claims=(Claim("{-1,0,1}", "costs no performance", alike("{-1,0,1}", "{-1,1}")),),
    ),
)  # fmt: skip
