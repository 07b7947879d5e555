"""Figures of Madsen & Johansen 2020 that illustrate an equation."""

from __future__ import annotations

from nalm.papers.entry import Study
from nalm.papers.madsen2020.programs import taylor
from nalm.papers.shared import stacks
from nalm.papers.shared.findings import measure

ENTRIES = (
    Study(
        "madsen2020:fig2",
        "Loss surface of a NAC+ followed by a NAC•, for three epsilons",
        "Madsen & Johansen 2020, figure 2",
        stacks.computing(stacks.NAC_STACKS),
        metrics=(measure("loss"),),
        claims=stacks.NAC_CLAIMS,
        draw=stacks.drawing(),
        note="The axes are not in the text: here both weights go from -1 to 1.",
    ),
    Study(
        "madsen2020:fig5",
        "Error of a second-order estimate of the mean output of the NAC•",
        "Madsen & Johansen 2020, appendix B.3.1",
        taylor.compute,
        metrics=(measure("error"),),
        claims=taylor.CLAIMS,
        draw=taylor.draw,
        note="The axis of r_w is not in the text: it ends at 0.5, where the error is about the lowest in the "
        "figure's legend, so that the size of the error is no test. Epsilon, not given either, is 1e-7.",
    ),
)
