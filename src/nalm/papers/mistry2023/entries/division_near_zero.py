"""Thesis, section 5.8: division by numbers close to zero."""

from __future__ import annotations

from dataclasses import replace

from nalm.evaluate.summary import SPARSE
from nalm.papers.claims import Claim, at_least, better, both, full, none, not_full, some
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.division_units import NMRU, NMRU_NOTE, NRU, THREE, near_zero
from nalm.papers.shared.series import joined, label, table
from nalm.tasks import RANGE_SETS

_CLOSE = (
    f"{NMRU_NOTE} A run is solved if its error is below that of ideal weights plus float32's epsilon, as in "
    "the thesis, plus that part of the error that float32 cannot tell from it."
)
_LARGER = (label("0:1"), label("0:0.1"))

ENTRIES = (
    Grid(
        "mistry2023:fig5.13",
        "Reciprocal of one input, close to zero",
        "thesis, section 5.8.2",
        25,
        table(THREE, near_zero(1)),
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
        table(THREE, near_zero(2)),
        note=_CLOSE,
        claims=(
            Claim(
                "Real NPU (mod)",
                "has false positives on U[0,1e-4), of high sparsity error",
                lambda f: (f["Real NPU (mod)", label("0:1e-4"), "sparsity"].value or 0) > SPARSE,
            ),
            Claim(
                "NMRU",
                "alone has reasonable success on the larger ranges",
                both(
                    at_least("NMRU", _LARGER, 0.5),
                    *(better("NMRU", row, [c]) for row in ("NRU", "Real NPU (mod)") for c in _LARGER),
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
            table(THREE, near_zero(None)),
            table([replace(each, label=f"{each.label}, reciprocal") for each in (NRU, NMRU)], near_zero(2)),
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
)  # fmt: skip
