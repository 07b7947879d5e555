"""Thesis, section 1.4.1: ordinary networks on one operation."""

from __future__ import annotations

from functools import partial

from nalm.papers.claims import Check, Claim, none, some
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import INTERPOLATION, SUCCESS
from nalm.papers.mistry2023.programs import mlp_surfaces
from nalm.papers.mistry2023.programs.mlp_surfaces import Network
from nalm.papers.shared.findings import measure

_ONE = Network(1, 50_000)
_HUNDRED = Network(100, 2_000_000, quick=0.01)
_FOUR = Network(4, 50_000, bias=False)
_METRICS = (SUCCESS, INTERPOLATION, measure("true function", "right on [-6,6] too", rising=True))
_SECTION = "thesis, section 1.4.1"


def _wrong_beyond(row: str, op: str) -> Check:
    """No seed has learnt the true function."""
    return lambda f: f[row, op, "true function"].value == 0


ENTRIES = (
    TrainedStudy(
        "mistry2023:fig1.3",
        "Surfaces of MLPs, width 1 and 100",
        _SECTION,
        partial(mlp_surfaces.compute, (_ONE, _HUNDRED), tuple(mlp_surfaces.SIGNS)),
        partial(mlp_surfaces.plan, "mistry2023:fig1.3", (_ONE, _HUNDRED), tuple(mlp_surfaces.SIGNS)),
        draw=mlp_surfaces.draw,
        metrics=_METRICS,
        main=3,
        claims=(
            Claim("MLP (1)", "extrapolates on addition", some("MLP (1)", ["add"])),
            Claim("MLP (1)", "extrapolates on nothing else", none("MLP (1)", ["sub", "mul", "div"])),
            Claim("MLP (100)", "never extrapolates", none("MLP (100)")),
            Claim(
                "MLP (1)",
                "is wrong beyond both ranges where it adds",
                _wrong_beyond("MLP (1)", "add"),
            ),
        ),
        note="The hidden layer starts by Kaiming's scheme, the output by Xavier's, as in the public program.",
    ),
    TrainedStudy(
        "mistry2023:fig1.6",
        "Surfaces of MLPs, width 4",
        _SECTION,
        partial(mlp_surfaces.compute, (_FOUR,), ("add", "sub")),
        partial(mlp_surfaces.plan, "mistry2023:fig1.6", (_FOUR,), ("add", "sub")),
        draw=mlp_surfaces.draw,
        metrics=_METRICS,
        main=3,
        claims=(
            Claim("MLP (4)", "can meet both ranges", some("MLP (4)", ["add", "sub"])),
            *(
                Claim(
                    "MLP (4)",
                    f"does not learn the true function ({op})",
                    _wrong_beyond("MLP (4)", op),
                )
                for op in ("add", "sub")
            ),
        ),
        note="Without shifts, as in the public program.",
    ),
)
