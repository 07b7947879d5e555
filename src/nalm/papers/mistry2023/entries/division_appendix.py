"""Thesis, appendix G: further studies of division."""

from __future__ import annotations

from nalm.evaluate.summary import SPARSE
from nalm.papers.claims import Claim, alike, best, better, full, none, not_better, not_full
from nalm.papers.counted import better_on
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.changes import learning_rate, more_penalties, optimiser, penalties
from nalm.papers.mistry2023.division_units import (
    MIXED,
    MODIFIED,
    NEGATIVE,
    NMRU,
    NMRU_NOTE,
    POSITIVE,
    UNIFORM,
)
from nalm.papers.shared.series import Series, label, single_module, table
from nalm.recipes import L2, SGD, Discretise, Growth, Ramp

_TANH = (1, 10, 100, 1000)
_NRU_RATES = (1e-3, 1e-2, 1e-1, 1.0)
_NPU_RATES = (5e-4, 5e-3, 5e-2, 5e-1)
_NMRU_RATES = (1e-3, 1e-2, 1e-1)
_PUBLIC = "Values swept and strengths are those of the public scripts."
_EXACT = "exact_evaluation=true"
_GATE_TO_BIT = Discretise(1.0, Ramp(50e3, 75e3), values="0,1", of="gates")


ENTRIES = (
    Grid(
        "mistry2023:figG.1",
        "Division, NRU: tanh scale factor",
        "thesis, appendix G.2",
        25,
        table([Series(f"{s:g}", f"nru(tanh_scale={s})") for s in _TANH], single_module("div")),
        note="The thesis shows its factors in a picture only, but for 1000; the others are ours.",
        claims=(
            Claim(
                "1000",
                "is the best factor",
                best("1000", [f"{s:g}" for s in _TANH]),
            ),
        ),
    ),
    Grid(
        "mistry2023:figG.2",
        "Division, Real NPU: no penalty, L1, L2",
        "thesis, appendix G.3",
        25,
        table(
            (
                Series("no reg", "realnpu", penalties()),
                Series("L1", "realnpu"),
                Series("L2", "realnpu", penalties(L2(1.0, Growth(1e-7, 1e-5)))),
            ),
            single_module("div"),
        ),
        note=_PUBLIC + " L2 grows from 1e-7 to 1e-5, L1 from 1e-9 to 1e-7.",
        claims=(
            Claim("L1", "is better than L2 on 5 ranges", better_on("L1", "L2", 5)),
            Claim("L2", "is better than L1 on no range", better_on("L2", "L1", 0)),
            Claim("L2", "is better than no penalty on 3 ranges", better_on("L2", "no reg", 3)),
            Claim("no reg", "is better than L2 on 3 ranges", better_on("no reg", "L2", 3)),
        ),
    ),
    Grid(
        "mistry2023:figG.3",
        "Division, modified Real NPU: learning rate",
        "thesis, appendix G.3",
        25,
        table(
            [Series(f"{r:g}", "realnpu@modified", learning_rate(r)) for r in _NPU_RATES], single_module("div")
        ),
        note=_PUBLIC,
        claims=(
            Claim("0.005", "is the best rate", best("0.005", [f"{r:g}" for r in _NPU_RATES])),
        ),
    ),
    Grid(
        "mistry2023:figG.4",
        "Division, NRU: learning rate",
        "thesis, appendix G.4",
        25,
        table([Series(f"{r:g}", "nru", learning_rate(r)) for r in _NRU_RATES], single_module("div")),
        note=_PUBLIC,
        claims=(
            Claim("1", "has full success on all ranges", full("1")),
            Claim("0.1", "is worse than 1", better("1", "0.1")),
            Claim("0.01", "is worse than 1", better("1", "0.01")),
            Claim("0.001", "is worse than 1", better("1", "0.001")),
        ),
    ),
    Grid(
        "mistry2023:figG.5",
        "Division with redundancy, NPU: complex weights",
        "thesis, appendix G.5",
        25,
        table(
            (
                MODIFIED,
                Series("NPU (no constraints)", "npu@modified"),
                Series("NPU (clip & reg)", "npu@constrained"),
            ),
            single_module("div", inputs=10),
        ),
        note=_PUBLIC,
        claims=(
            Claim(
                "NPU (no constraints)",
                "is worse than the Real NPU on negative ranges",
                better("Real NPU (mod)", "NPU (no constraints)", NEGATIVE),
            ),
            Claim(
                "NPU (clip & reg)",
                "is no significant improvement",
                not_better("NPU (clip & reg)", "Real NPU (mod)"),
            ),
        ),
    ),
    Grid(
        "mistry2023:figG.6",
        "Division with redundancy, NMRU: ablation",
        "thesis, appendix G.6",
        25,
        table(
            (
                Series("vanilla", f"nmru@unclipped(sign=false;{_EXACT})"),
                Series("gnc", f"nmru(sign=false;{_EXACT})"),
                Series("sign", f"nmru@unclipped({_EXACT})"),
                Series("gnc, sign", f"nmru({_EXACT})"),
                Series("gnc, sign, gating", f"nmru(gate=true;{_EXACT})", more_penalties(_GATE_TO_BIT)),
            ),
            single_module("div", inputs=10),
        ),
        note=f"{_PUBLIC} {NMRU_NOTE}",
        claims=(
            Claim("vanilla", "performs poorly on most ranges", lambda f: sum(
                (f.rate("vanilla", c).value or 0) < 0.5 for c in UNIFORM
            ) >= 5),
            Claim("vanilla", "performs poorly on positive ranges too", not_full("vanilla", POSITIVE)),
            Claim("gnc", "cannot learn negative ranges", none("gnc", NEGATIVE)),
            Claim("gnc", "fully succeeds on U[-2,2)", full("gnc", [MIXED])),
            Claim("sign", "gains successes on negative ranges", better("sign", "vanilla", NEGATIVE)),
            Claim("sign", "is affected on U[-2,2)", better("gnc", "sign", [MIXED])),
            Claim("all", "sparsity errors of successes remain extremely low", lambda f: max(
                found.value or 0 for (_, _, metric), found in f.items() if metric == "sparsity"
            ) < SPARSE),
            Claim("gnc, sign", "is the largest improvement", best("gnc, sign", ["vanilla", "gnc", "sign"])),
            Claim("gnc, sign, gating", "gating hinders", better("gnc, sign", "gnc, sign, gating")),
        ),
    ),
    Grid(
        "mistry2023:figG.7",
        "Division with redundancy, NMRU: learning rate",
        "thesis, appendix G.6",
        25,
        table(
            [Series(f"{r:g}", NMRU.model, learning_rate(r)) for r in _NMRU_RATES],
            single_module("div", inputs=10),
        ),
        note=f"{_PUBLIC} {NMRU_NOTE}",
        claims=(
            Claim("0.001", "struggles on U[-2,2)", not_full("0.001", [MIXED])),
            Claim("0.1", "has no success on several ranges", lambda f: sum(
                f.rate("0.1", c).value == 0 for c in UNIFORM
            ) > 1),
        ),
    ),
    Grid(
        "mistry2023:figG.8",
        "Division with redundancy, NMRU: optimiser",
        "thesis, appendix G.6",
        25,
        table(
            (
                Series("Adam", NMRU.model),
                Series("SGD", NMRU.model, optimiser(SGD(1e-2))),
            ),
            single_module("div", inputs=10),
        ),
        note=f"{_PUBLIC} {NMRU_NOTE}",
        claims=(Claim("Adam", "is better than SGD on 7 ranges", better_on("Adam", "SGD", 7)),),
    ),
    Grid(
        "mistry2023:figG.9",
        "Division with redundancy, NRU: sign apart",
        "thesis, appendix G.7",
        25,
        table(
            (Series("together", "nru"), Series("separate", "nru(sign=separate)")),
            single_module("div", inputs=10),
        ),
        claims=(
            Claim("separate", "makes no difference to success", alike("separate", "together")),
            Claim("together", "succeeds on positive ranges", full("together", POSITIVE)),
            Claim("together", "fails on negative ranges", none("together", [*NEGATIVE, label("-2:2")])),
        ),
    ),
)  # fmt: skip
