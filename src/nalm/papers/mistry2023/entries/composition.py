"""Thesis, chapter 7: expressions of two steps."""

from __future__ import annotations

from nalm.papers.claims import Claim
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.mistry2023.programs import composition
from nalm.papers.mistry2023.programs.composition import Layout, is_learnt, no_more_than, reads_line
from nalm.papers.shared.findings import measure
from nalm.tasks.composition import OTHER_READINGS, TWO_STEPS

_GATED = "2L Stacked Gated [NAU;NMU]"
_RECURRENT, _FROZEN = composition.RECURRENT, composition.FROZEN
_ROWS = tuple(composition.rows_of_table())
_PRINTED = tuple(row for row in _ROWS if not row.endswith(composition.BY_LINE_13))

_NUMBERS = (
    measure(composition.CORRECT, "correct of 16", rising=True),
    measure(composition.INTERPOLATION, "interpolation MSE"),
    measure(composition.EXTRAPOLATION, "extrapolation MSE"),
    measure(composition.PER_SEED, "correct per seed", rising=True),
    measure(composition.BELOW, "error below the threshold, per seed", rising=True),
    measure(composition.BEFORE, "the same at the step with the lowest validation error", rising=True),
    measure(composition.BEST_INTERPOLATION, "interpolation MSE of the best runs"),
    measure(composition.BEST_EXTRAPOLATION, "extrapolation MSE of the best runs"),
    SUCCESS,
)
_LEARNT = (SUCCESS, measure("learnt", "", rising=None))
_OF_NAU_AND_NMU = tuple(op for op in TWO_STEPS if "div" not in op)
_LEARNT_BY_GATED = ("add-sub", "add-mul", "sub-add", "mul-mul")
_LEARNT_BY_RECURRENT = ("add-add", "add-sub", "sub-add", "sub-sub", "mul-mul")
_LEARNT_BY_FROZEN = ("add-add", "add-sub", "mul-mul", "mul-div", "div-add", "div-mul", "div-div")
_LINES_OF_FROZEN = ("div-add", "div-mul", "div-div")
_SETTINGS = (
    "Neither seeds nor what counts as correct are stated: 20 seeds; a run has learnt an expression if the"
    " formula that is read from its weights and gates after the last step is the target, a model if its run"
    " with the lowest validation error has. Table 7.2's epochs are read as steps with fresh batches."
)


def _learnt(op: str, learnt: tuple[str, ...]) -> Claim:
    expected = op in learnt
    return Claim(op, "is learnt" if expected else "is not learnt", is_learnt(op, expected))


def _breakdown(
    number: str, row: str, title: str, ops: tuple[str, ...], claims: tuple[Claim, ...]
) -> TrainedStudy:
    """A table of single expressions."""
    layout = Layout(f"mistry2023:table{number}", (row,), ops)
    return TrainedStudy(
        layout.entry, title, "thesis, section 7.3", layout.compute, layout.plan,
        metrics=_LEARNT, main=2, in_parts=True, claims=claims, note=_SETTINGS, draw=composition.draw,
    )  # fmt: skip


_ALL = Layout("mistry2023:table7.3", _ROWS, summary=True)

ENTRIES = (
    TrainedStudy(
        _ALL.entry,
        "Expressions of two operations: 13 architectures",
        "thesis, section 7.3",
        _ALL.compute,
        _ALL.plan,
        metrics=_NUMBERS,
        main=9,
        in_parts=True,
        claims=(
            Claim(_FROZEN, "learns most", no_more_than(_PRINTED, _FROZEN)),
            Claim(_RECURRENT, "learns most of the trained units",
                  no_more_than([row for row in _PRINTED if row != _FROZEN], _RECURRENT)),
            Claim("MLP (6L;16HU)", "fits the training range and no other",
                  lambda f: (f["MLP (6L;16HU)", composition.ALL, composition.INTERPOLATION].value or 0) < 0.1
                  and f["MLP (6L;16HU)", composition.ALL, composition.CORRECT].value == 0),
        ),
        note=(
            f"{_SETTINGS} The printed deviations are read as those over the 16 expressions; errors that are"
            " not finite are left out of our means. Rows marked"
            f" '{composition.BY_LINE_13.strip(', ')}' follow the algorithm where it contradicts the text. The"
            " quadratic networks are drawn like torch's linear layers, because with larger weights nearly all"
            " of them diverge."
        ),
        draw=composition.draw,
    ),
    _breakdown(
        "7.4", _GATED, "Expressions learnt by gated NAUs and NMUs", _OF_NAU_AND_NMU,
        tuple(_learnt(op, _LEARNT_BY_GATED) for op in _OF_NAU_AND_NMU),
    ),
    _breakdown(
        "7.5", _RECURRENT, "Expressions learnt by a recurrent selection of inputs, learnt units",
        _OF_NAU_AND_NMU,
        (
            *(_learnt(op, _LEARNT_BY_RECURRENT) for op in _OF_NAU_AND_NMU),
            Claim("add-add", "does without a line of working", reads_line("add-add", False)),
            Claim("sub-sub", "reads a line of working (table 7.5)", reads_line("sub-sub", True)),
            Claim("add-sub", "reads a line of working (the text)", reads_line("add-sub", True)),
        ),
    ),
    _breakdown(
        "7.6", _FROZEN, "Expressions learnt by a recurrent selection of inputs, frozen units",
        (*TWO_STEPS, *OTHER_READINGS),
        (
            *(_learnt(op, _LEARNT_BY_FROZEN) for op in (*TWO_STEPS, *OTHER_READINGS)),
            *(Claim(op, "reads a line of working", reads_line(op, True)) for op in _LINES_OF_FROZEN),
        ),
    ),
)  # fmt: skip
