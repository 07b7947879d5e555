"""Thesis, section 3.1: one task, set up in three ways."""

from __future__ import annotations

from itertools import combinations

from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.mistry2023.programs import setups
from nalm.papers.shared.findings import measure


def _apart(f: Findings) -> bool:
    """On some operation, some row succeeds surely more often in one set-up than in another."""
    for row in setups.ROWS:
        columns = f.columns(row)
        for kind in {column.rpartition(", ")[2] for column in columns}:
            rates = [f.rate(row, column) for column in columns if column.endswith(f", {kind}")]
            if any(
                (a.low or 0) > (b.high or 0) or (b.low or 0) > (a.high or 0)
                for a, b in combinations(rates, 2)
            ):
                return True
    return False


ENTRIES = (
    TrainedStudy(
        "mistry2023:table3.1",
        "Large scale arithmetic as three papers set it up",
        "thesis, section 3.1",
        setups.compute,
        setups.plan,
        metrics=(SUCCESS, measure("test error", "median test error")),
        main=2,
        claims=(Claim("all", "results of the set-ups are not directly comparable", _apart),),
        note=(
            "The table describes set-ups and has no results; these are ours. Success is by the error of first"
            " weights that are off by 1e-5."
        ),
    ),
)
