"""Thesis, chapter 5: division by a single module, units compared."""

from __future__ import annotations

from nalm.papers.agreement import Reason
from nalm.papers.claims import Claim, Findings, better, both, full, none, not_full, some, total
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.division_units import (
    BASELINE,
    MIXED,
    MODIFIED,
    NEGATIVE,
    NMRU,
    NMRU_NOTE,
    POSITIVE,
    THREE,
    UNIFORM,
    near_zero,
)
from nalm.papers.shared.series import Series, label, pooled, single_module, table
from nalm.tasks import RANGE_SETS, RangeTask, SingleModule


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
        "mistry2023:table5.6",
        "Division: which tasks units can solve",
        "thesis, section 5.11",
        25,
        lambda: [
            *pooled(THREE, {f"2 inputs, {k}": _tasks(v, 2) for k, v in _GROUPS.items()})(),
            *pooled(THREE, {"2 inputs, close to 0 uniform": list(near_zero(None).values())})(),
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
