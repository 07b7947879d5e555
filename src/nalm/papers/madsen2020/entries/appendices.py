"""Derivations of Madsen & Johansen 2020 in appendices A and B, checked with our units."""

from __future__ import annotations

from nalm.papers.entry import Study
from nalm.papers.madsen2020.programs import moments, printed_gradients
from nalm.papers.shared.findings import measure

ENTRIES = (
    Study(
        "madsen2020:appendixA",
        "Printed gradients beside automatic differentiation",
        "Madsen & Johansen 2020, appendix A",
        printed_gradients.computing(printed_gradients.PAIRS),
        metrics=(measure("difference"),),
        claims=printed_gradients.claims_of(printed_gradients.PAIRS),
        note="Largest difference relative to the largest gradient, in float64.",
    ),
    Study(
        "madsen2020:appendixB",
        "Moments of units at initialisation",
        "Madsen & Johansen 2020, appendix B",
        moments.compute,
        metrics=(measure("value", rising=None),),
        claims=moments.CLAIMS,
        note="The appendix has formulas; sizes and distributions are ours. Inputs are uniform, of mean 0 and "
        "variance 1 for the NMU and U[1,2) for the NAC•, whose formulas are estimates of second order. Our "
        "NMU starts with weights of U[0.25,0.75), of variance 1/48; equation 69 is an option of it.",
    ),
)
