"""Thesis, section 2.3.6: compositionality by parsing."""

from __future__ import annotations

from nalm.papers.claims import Claim, not_full
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.mistry2023.programs import calcnet
from nalm.papers.shared.findings import measure

ENTRIES = (
    TrainedStudy(
        "mistry2023:section2.3.6",
        "CalcNet: expressions by precedence, by depth",
        "thesis, section 2.3.6; primer, section 5.5",
        calcnet.compute,
        calcnet.plan,
        metrics=(SUCCESS, measure(calcnet.ERROR, "error")),
        main=2,
        claims=(
            Claim(
                "NALU",
                "Even a single NALU cannot learn one operation well",
                not_full("NALU", ["depth 1"]),
            ),
        ),
        note=(
            "The texts give no numbers and no settings. Ours: units trained on U[1, 2) as in the thesis's"
            " single module task; 50 expressions of each depth, of whole numbers from 2 to 99; right is a"
            " relative error of at most 1 %; the share of right results and the median error over all"
            " expressions and seeds. Rows of second order are ours. The interval treats all results as"
            " independent, although those of one seed share their units."
        ),
    ),
)
