"""Thesis, chapter 5: division by a single module."""

from __future__ import annotations

from dataclasses import replace

from nalm.evaluate.summary import READABLE
from nalm.papers.claims import (
    Claim,
    Findings,
    alike,
    best,
    better,
    better_on,
    both,
    full,
    none,
    not_full,
    some,
    total,
)
from nalm.papers.entries._changes import (
    CLIP_GATE,
    CLIP_W,
    bounds,
    initialise,
    l1_growth,
    more_penalties,
    penalties,
    several,
)
from nalm.papers.entries._common import Series, joined, label, pooled, single_module, table
from nalm.papers.entry import Grid
from nalm.papers.verdicts import Reason
from nalm.recipes import Discretise, Initialise, Ramp
from nalm.tasks import RANGE_SETS, RangeTask, Reciprocal, SingleModule

BASELINE = Series("Real NPU", "realnpu")
MODIFIED = Series("Real NPU (mod)", "realnpu@modified")
NRU = Series("NRU", "nru")
NMRU = Series("NMRU", "nmru(exact_evaluation=true)")
"""Without an epsilon in evaluation, as in public code: see `NMRU_NOTE`."""
NMRU_NOTE = (
    "The NMRU leaves the epsilon of its equation out in evaluation, as public code does; mistry2023:fig5.6 "
    "also has it as printed, which differs on U[-2,2) (docs/fidelity.md)."
)
_CLOSE = (
    f"{NMRU_NOTE} A run is solved if its error is below that of ideal weights plus float32's epsilon, as in "
    "the thesis, plus that part of the error that float32 cannot tell from it."
)
_PUBLIC = "Values swept and strengths as in the public scripts."
THREE = (MODIFIED, NRU, NMRU)
UNIFORM = [label(name) for name in RANGE_SETS["uniform"]]
NEGATIVE, POSITIVE = UNIFORM[:4], UNIFORM[5:]
MIXED = label("-2:2")

_BETAS = ((1e-11, 1e-9), (1e-9, 1e-7), (1e-8, 1e-6), (1e-7, 1e-5), (1e-5, 1e-3), (1e-3, 1e-1), (1e-1, 10.0))
_LATE = Ramp(40e3, 50e3)
_GATE_TO_BIT = Discretise(1.0, _LATE, values="0,1", of="gates")
_W_TO_SIGN = Discretise(1.0, _LATE, values="-1,1", of="W")
_CLIPPED = bounds(CLIP_W, CLIP_GATE)
_DISCRETE = several(_CLIPPED, more_penalties(_W_TO_SIGN, _GATE_TO_BIT))


def _beta(first: float, last: float) -> Series:
    return Series(f"({first:.0e},{last:.0e})", "realnpu", l1_growth(first, last))


def _near_zero(inputs: int | None) -> dict[str, RangeTask]:
    """Reciprocals of the first of some inputs, or where that is None quotients of two, close to zero."""
    return {
        label(name): SingleModule("div", name) if inputs is None else Reciprocal("reciprocal", name, inputs)
        for name in RANGE_SETS["near-zero"]
    }


def _worst_sparsity(f: Findings, row: str) -> float:
    """The largest mean sparsity error of a row over the nine ranges."""
    return max(f[row, c, "sparsity"].value or 0 for c in UNIFORM)


def _tasks(names: list[str], inputs: int) -> list[RangeTask]:
    return [SingleModule("div", name, inputs) for name in names]


_UNIFORM = list(RANGE_SETS["uniform"])
_GROUPS = {
    "mixed-signs uniform": list(RANGE_SETS["mixed-sign"]),
    "mixed-signs truncated normal": ["tn-minus-1", "tn-0", "tn-1"],
    "negative uniform": _UNIFORM[:4],
    "positive uniform": _UNIFORM[5:],
    "large uniform": ["-100:100", "-50:50"],
    "large Benford": ["benford"],
    "close to 0 truncated normal": ["tn-0"],
}

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
        note=_PUBLIC,
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
            Claim("(1e-01,1e+01)", "larger values are worse", better("(1e-09,1e-07)", "(1e-01,1e+01)")),
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
                    "improves on the baseline but on U[1,2) and U[-2,2)",
                    better(row, "no clip", [c for c in UNIFORM if c not in (label("1:2"), MIXED)]),
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
        "mistry2023:fig5.6",
        "Division without redundancy, uniform ranges",
        "thesis, section 5.5",
        25,
        table((BASELINE, *THREE, Series("NMRU, as printed", "nmru")), single_module("div")),
        note="`NMRU, as printed` keeps the epsilon of the equation in evaluation (docs/fidelity.md).",
        claims=(
            Claim("Real NPU", "struggles on all ranges", not_full("Real NPU")),
            Claim("Real NPU (mod)", "struggles on U[-2,2) only", both(
                full("Real NPU (mod)", [*NEGATIVE, *POSITIVE]), not_full("Real NPU (mod)", [MIXED])
            )),
            Claim("Real NPU (mod)", "is more robust than the Real NPU", better("Real NPU (mod)", "Real NPU")),
        ),
    ),
    Grid(
        "mistry2023:fig5.7",
        "Division with redundancy, uniform ranges",
        "thesis, section 5.5",
        25,
        table((BASELINE, *THREE), single_module("div", inputs=10)),
        note=NMRU_NOTE,
        claims=(
            Claim("all", "failures arise for all units", lambda f: all(
                min(f.rate(row, c).value or 0 for c in UNIFORM) < 1
                for row in ("Real NPU", "Real NPU (mod)", "NRU", "NMRU")
            )),
            Claim(
                "Real NPU",
                "has higher sparsity errors than the others",
                lambda f: all(
                    _worst_sparsity(f, "Real NPU") > _worst_sparsity(f, row)
                    for row in ("Real NPU (mod)", "NRU", "NMRU")
                ),
            ),
            Claim("Real NPU (mod)", "is better than the Real NPU", better("Real NPU (mod)", "Real NPU")),
            Claim("NMRU", "is the only one with success on U[-2,2)", both(
                some("NMRU", [MIXED]), *(none(row, [MIXED]) for row in ("Real NPU", "Real NPU (mod)", "NRU"))
            )),
            Claim(
                "Real NPU (mod)",
                "can be better than the NMRU on negative ranges",
                lambda f: any(
                    total(f, "Real NPU (mod)", [c]) > total(f, "NMRU", [c]) for c in NEGATIVE
                ),
            ),
        ),
    ),
    Grid(
        "mistry2023:fig5.8",
        "Division without redundancy, mixed signs",
        "thesis, section 5.6",
        25,
        table(THREE, single_module("div", "mixed-sign")),
        note=NMRU_NOTE,
        claims=(
            Claim("Real NPU (mod)", "struggles on all these ranges", not_full("Real NPU (mod)")),
            Claim("NRU", "does not", full("NRU")),
            Claim("NMRU", "does not", full("NMRU")),
        ),
    ),
    Grid(
        "mistry2023:fig5.9",
        "Division with redundancy, mixed signs",
        "thesis, section 5.6",
        25,
        table(THREE, single_module("div", "mixed-sign", 10), Reason.DATA),
        note=(
            "Table 5.2 as printed: operands of different signs. In the program behind the published numbers "
            "both operands come from the same range for 23 of 25 seeds."
        ),
        claims=(),
    ),
    Grid(
        "mistry2023:fig5.10",
        "Division without redundancy, other distributions",
        "thesis, section 5.7",
        25,
        table(THREE, single_module("div", "distributions")),
        note=NMRU_NOTE,
        claims=(
            Claim("NRU", "has full success", full("NRU")),
            Claim("NMRU", "has full success", full("NMRU")),
            Claim("Real NPU (mod)", "succeeds on Benford", full("Real NPU (mod)", [label("benford")])),
        ),
    ),
    Grid(
        "mistry2023:fig5.11",
        "Division with redundancy, other distributions",
        "thesis, section 5.7",
        25,
        table(THREE, single_module("div", "distributions", 10)),
        note=NMRU_NOTE,
        claims=(
            Claim("all", "all fail on large uniform ranges", both(
                *(none(s.label, [label("-100:100"), label("-50:50")]) for s in THREE)
            )),
            Claim("NRU, Real NPU (mod)", "have full success on Benford", both(
                full("NRU", [label("benford")]), full("Real NPU (mod)", [label("benford")])
            )),
            Claim("NRU, Real NPU (mod)", "have no success on truncated normals", both(
                *(none(row, [label(n) for n in ("tn-minus-1", "tn-0", "tn-1")])
                  for row in ("NRU", "Real NPU (mod)"))
            )),
        ),
    ),
    Grid(
        "mistry2023:fig5.13",
        "Reciprocal of one input, close to zero",
        "thesis, section 5.8.2",
        25,
        table(THREE, _near_zero(1)),
        note=_CLOSE,
        claims=(
            Claim("NMRU", "is achieved with ease", full("NMRU")),
            Claim("Real NPU (mod)", "is achieved with ease", full("Real NPU (mod)")),
            Claim("NRU", "is achieved with ease but on U[0,1e-4)", full(
                "NRU", [label(n) for n in RANGE_SETS["near-zero"] if n != "0:1e-4"]
            )),
            Claim("NRU", "begins to struggle on U[0,1e-4)", not_full("NRU", [label("0:1e-4")])),
        ),
    ),
    Grid(
        "mistry2023:fig5.14",
        "Reciprocal of the first of two inputs, close to zero",
        "thesis, section 5.8.2",
        25,
        table(THREE, _near_zero(2)),
        note=_CLOSE,
        claims=(
            Claim(
                "Real NPU (mod)",
                "has false positives on U[0,1e-4), of high sparsity error",
                lambda f: (f["Real NPU (mod)", label("0:1e-4"), "sparsity"].value or 0) > READABLE,
            ),
            Claim(
                "NMRU",
                "alone has reasonable success on the larger ranges",
                lambda f: all(
                    (f.rate("NMRU", label("0:1")).value or 0) > (f.rate(row, label("0:1")).value or 0)
                    for row in ("NRU", "Real NPU (mod)")
                ),
            ),
        ),
    ),
    Grid(
        "mistry2023:fig5.15",
        "Division of two inputs, close to zero",
        "thesis, section 5.8.2",
        25,
        joined(
            table(THREE, _near_zero(None)),
            table([replace(each, label=f"{each.label}, reciprocal") for each in (NRU, NMRU)], _near_zero(2)),
        ),
        note=_CLOSE,
        claims=(
            *(
                Claim(
                    row,
                    "is better than on the reciprocal of two inputs for the larger ranges",
                    better(row, f"{row}, reciprocal", [label("0:1"), label("0:0.1")]),
                )
                for row in ("NRU", "NMRU")
            ),
            Claim(
                "NRU, NMRU",
                "have some success on the larger ranges",
                both(some("NRU", [label("0:1")]), some("NMRU", [label("0:1")])),
            ),
            Claim(
                "all",
                "the smallest ranges stay unsolved",
                both(*(none(each.label, [label("0:1e-4"), label("0:1e-3")]) for each in THREE)),
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
    Grid(
        "mistry2023:table5.6",
        "Division: which tasks units can solve",
        "thesis, section 5.11",
        25,
        lambda: [
            *pooled(THREE, {f"2 inputs, {k}": _tasks(v, 2) for k, v in _GROUPS.items()})(),
            *pooled(THREE, {"2 inputs, close to 0 uniform": list(_near_zero(None).values())})(),
            *pooled(
                THREE,
                {f"10 inputs, {k}": _tasks(v, 10) for k, v in _GROUPS.items() if k != "mixed-signs uniform"},
            )(),
            *pooled(
                THREE,
                {"10 inputs, mixed-signs uniform": _tasks(_GROUPS["mixed-signs uniform"], 10)},
                Reason.DATA,
            )(),
            *pooled(
                (BASELINE, MODIFIED, NMRU), {"10 inputs, all nine uniform": _tasks(_UNIFORM, 10)}
            )(),
        ],
        note=f"All nine ranges: from the paper that the chapter is made of (arXiv 2110.05177). {NMRU_NOTE}",
    ),
)  # fmt: skip
