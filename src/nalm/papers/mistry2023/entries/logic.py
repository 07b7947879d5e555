"""Thesis, appendix D.3.1: what stacked Neural Logic Rule Layers learn, and how many units they need."""

from __future__ import annotations

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.claims import Check, Claim, both, full, lower, none, not_better
from nalm.papers.claims import better as more_often
from nalm.papers.entry import Grid, Place
from nalm.papers.metrics import SOLVED_AT, SUCCESS
from nalm.tasks import Logic

_BOTH, _AND_ONLY = "nlrl+nlrl", "nlrl(de_morgan=true)+nlrl(de_morgan=true)"
_UNITS = (1, 2, 4, 8, 16)
_GATES = ("and", "or", "not", "xor", "implies")
_TESTED = tuple(op for op in Logic.ops if op != "implies")
"""Operations that the thesis names; implication is ours."""
_ONE_LAYER = "one layer"


def _row(units: int, *, de_morgan: bool = False) -> str:
    return f"{units} unit{'s' * (units > 1)}{', AND alone' if de_morgan else ''}"


def _places() -> list[Place]:
    """Two layers with AND and OR, or with AND alone, by number of units; and a single layer."""
    rows = [(_row(units), _BOTH, units) for units in _UNITS]
    rows += [(_row(units, de_morgan=True), _AND_ONLY, units) for units in _UNITS]
    rows.append((_ONE_LAYER, "nlrl", 2))
    return [
        Place(row, op, (Case(ModelSpec.parse(model), Logic(op), hidden=units),))
        for row, model, units in rows
        for op in Logic.ops
    ]


def _saturates() -> Check:
    """Eight units succeed more often than one, and sixteen no more often than eight."""
    return both(more_often(_row(8), _row(1)), not_better(_row(16), _row(8)))


ENTRIES = (
    Grid(
        "mistry2023:appendixD.3.1",
        "Logic and arithmetic learnt by stacked NLRLs, by number of units",
        "thesis, appendix D.3.1, after Reimann & Schwung 2019",
        10,
        _places,
        quick_seeds=10,
        metrics=(SUCCESS, SOLVED_AT),
        claims=(
            *(
                Claim(op, "is learnt by a stack of 8 units", full(_row(8), [op]), (_row(8),))
                for op in _TESTED
            ),
            Claim(
                "gates",
                "are learnt by AND and negation alone, 8 units",
                full(_row(8, de_morgan=True), _GATES),
                (_row(8, de_morgan=True),),
            ),
            Claim(
                "xor", "needs a stack: one layer cannot express it", none(_ONE_LAYER, ["xor"]), (_ONE_LAYER,)
            ),
            Claim(
                "units",
                "more of them help until 8, then no more",
                _saturates(),
                tuple(map(_row, (1, 8, 16))),
            ),
            Claim(
                "AND and OR",
                "converge in fewer steps than AND alone, 8 units",
                lower(SOLVED_AT.name, _row(8), _row(8, de_morgan=True), _GATES),
                (_row(8), _row(8, de_morgan=True)),
            ),
        ),
        note=(
            "The thesis has no numbers, data, settings or seeds. Ours: two layers, Adam with the rate 0.01, "
            "10,000 steps, batches of 128, 10 seeds; gates see random truth values and count as learnt with "
            "a root mean squared error below 0.1, the other operations see U[0, 1) and need 0.01. 'Addition "
            "with division' is read as (a + b) / 2, the constant is 1. Implication is ours. That AND and OR "
            "take longer per step is not measured: it was said of the Kronecker product, which is multiplied "
            "out here."
        ),
    ),
)
