"""Heim et al. 2020, section 4.1: equations of an epidemic."""

from __future__ import annotations

from nalm.papers.claims import Claim, lower
from nalm.papers.entry import TrainedStudy
from nalm.papers.heim2020.programs import fractional_sir
from nalm.papers.heim2020.programs.pareto import draw_pareto
from nalm.papers.shared.findings import measure

_SMALL, _SMALLEST = "at most 60 parameters", "at most 25 parameters"

ENTRIES = (
    TrainedStudy(
        "heim2020:section4.1",
        "Fractional SIR model: error against number of parameters",
        "Heim et al. 2020, section 4.1",
        fractional_sir.compute,
        fractional_sir.plan,
        metrics=(measure(fractional_sir.METRIC, ""),),
        claims=(
            Claim(
                "NPU",
                "With few parameters the NPU has a lower error than a dense network",
                lower(fractional_sir.METRIC, "NPU", "Dense", [_SMALL]),
            ),
            Claim(
                "Real NPU",
                "The sparsest equations with a low error are those of the Real NPU",
                lower(fractional_sir.METRIC, "Real NPU", "NPU", [_SMALLEST]),
            ),
        ),
        draw=draw_pareto,
        note=(
            "The lowest error of all networks of a row, as the authors' Pareto plot shows it; the claims are"
            " read off that plot. Published numbers are its points (plots/pareto_sir.tex at d89c51a, 100"
            " networks a row). A cell without a number has no network that small. Training differs from the"
            " authors': from each observed state to the next, without L-BFGS. Euler steps have an error of"
            " their own, which limits what any network can reach; the row of second order, which is ours,"
            " finds equations by `nalm.find_dynamics` with Runge-Kutta steps."
        ),
    ),
)
