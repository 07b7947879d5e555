"""Thesis, chapter 5: division by a single module, units compared."""

from __future__ import annotations

from dataclasses import replace

from nalm.papers.agreement import Reason
from nalm.papers.claims import (
    Claim,
    Findings,
    at_least,
    better,
    better_everywhere,
    both,
    full,
    lower,
    none,
    not_full,
    some,
    total,
)
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
from nalm.papers.shared.series import Series, joined, label, pooled, single_module, table
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

_BOTH_SOLVE = [c for c in UNIFORM if c != MIXED]
"""Ranges on which both Real NPUs have successes, so that speed and sparsity can be compared."""
_WITHOUT = "Real NPU (mod), 2 inputs"
_MIXED_SIGNS = tuple(single_module("div", "mixed-sign"))

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
            Claim(
                "Real NPU (mod)",
                "succeeds more often than the Real NPU on all ranges where that is not full",
                better_everywhere("Real NPU (mod)", "Real NPU", _BOTH_SOLVE),
            ),
            Claim(
                "Real NPU (mod)",
                "is faster than the Real NPU on all ranges",
                both(*(lower("solved at", "Real NPU (mod)", "Real NPU", [c]) for c in _BOTH_SOLVE)),
            ),
            Claim(
                "Real NPU (mod)",
                "is sparser than the Real NPU on all ranges but U[10,20)",
                both(*(
                    lower("sparsity", "Real NPU (mod)", "Real NPU", [c])
                    for c in _BOTH_SOLVE if c != label("10:20")
                )),
            ),
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
        ),
    ),
    Grid(
        "mistry2023:fig5.9",
        "Division with redundancy, mixed signs",
        "thesis, section 5.6",
        25,
        joined(
            table(THREE, single_module("div", "mixed-sign", 10), Reason.DATA),
            table([replace(MODIFIED, label=_WITHOUT)], single_module("div", "mixed-sign")),
        ),
        note=(
            "Table 5.2 as printed: operands of different signs. In the program behind the published numbers "
            "both operands come from the same range for 23 of 25 seeds."
        ),
        claims=(
            Claim(
                "Real NPU (mod)",
                "is better than without redundancy on all ranges but U[-2,2)",
                both(*(better("Real NPU (mod)", _WITHOUT, [c]) for c in _MIXED_SIGNS if c != MIXED)),
            ),
            Claim("Real NPU (mod)", "is better than the NRU", better("Real NPU (mod)", "NRU")),
            Claim("NRU", "no longer works on any range", none("NRU")),
            Claim("NMRU", "retains strong performance", at_least("NMRU", _MIXED_SIGNS, 0.8)),
        ),
    ),
    Grid(
        "mistry2023:fig5.10",
        "Division without redundancy, other distributions",
        "thesis, section 5.7",
        25,
        table(THREE, single_module("div", "distributions")),
        note=NMRU_NOTE,
    ),
    Grid(
        "mistry2023:fig5.11",
        "Division with redundancy, other distributions",
        "thesis, section 5.7",
        25,
        table(THREE, single_module("div", "distributions", 10)),
        note=NMRU_NOTE,
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
