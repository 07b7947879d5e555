"""The experiments of the iNALU's authors (thesis, appendix D.1): Schlör, Ring, Hotho 2020.

They are numbered as in the thesis, section 3.1 and appendix D.1: 1 minimal arithmetic task, 2 input
magnitude, 3 simple arithmetic task, 4 influence of initialisation, 5 simple function task.
"""

from __future__ import annotations

from collections.abc import Iterator

from nalm.papers.claims import Check, Claim, none, not_full, some, total
from nalm.papers.entry import TrainedStudy
from nalm.papers.schloer2020.entries.layouts import METRICS, Layout, arms, columns, draw
from nalm.papers.schloer2020.programs.layers import KINDS
from nalm.papers.schloer2020.programs.tasks import MINIMAL, SIMPLE_ARITHMETIC, SIMPLE_FUNCTION, FourOperations
from nalm.papers.schloer2020.programs.training import RMSPROP

_MATRIX, _VECTOR, _SHARED, _OWN = (kind.name for kind in KINDS)
_INALUS = (_SHARED, _OWN)
SOURCE = "Schlör, Ring, Hotho 2020, experiment {}; thesis, appendix D.1"
_BY_RMSPROP = "{}, RMSProp"
_TWO_INPUTS = "{}, 2 inputs"

_EXPONENTIAL = [f"mul {found.label}" for found in MINIMAL.distributions if found.family == "exponential"]
_SCALE_OF_5 = "mul exponential 0.2->0.5"


def _uneven(row: str, names: list[str]) -> Check:
    """A row succeeds in some of these columns and not in others."""
    return lambda f: 0 < total(f, row, names) < len(names)


def _more(row: str, other: str, names: list[str] | None = None) -> Check:
    """More success over all these columns together; in single columns it may be less."""
    return lambda f: total(f, row, names) > total(f, other, names)


def _claims(task: FourOperations) -> Iterator[Claim]:
    """What the thesis says of these experiments in appendices D.1 and D.2, and in section 2.3.4."""
    for row in _INALUS:
        yield Claim(row, "generally outperforms the NALU (D.2)", _more(row, _MATRIX))
        yield Claim(row, "is not stable in division (2.3.4)", not_full(row, columns(task, "div")))


def _of_redundancy() -> Iterator[Claim]:
    """What the thesis says of experiment 3, beside experiment 1."""
    exponential = [c for c in columns(SIMPLE_ARITHMETIC, "add", "sub", "mul", "div") if "exponential" in c]
    division = columns(SIMPLE_ARITHMETIC, "div")
    for row in (_MATRIX, _VECTOR):
        beside = _TWO_INPUTS.format(row)
        text = "is better on exponential inputs with redundant inputs than without (D.1)"
        yield Claim(row, text, _more(row, beside, exponential))
    for row in _INALUS:
        beside = _TWO_INPUTS.format(row)
        yield Claim(row, "multiplies inputs of exponential 0.2 (D.1)", some(row, [_SCALE_OF_5]))
        yield Claim(row, "is worse in division than with two inputs (D.1)", _more(beside, row, division))


_EXP1 = Layout(
    "schloer2020:exp1",
    arms("minimal") | {_BY_RMSPROP.format(row): arms("minimal", RMSPROP)[row] for row in _INALUS},
)
_EXP3 = Layout("schloer2020:exp3", arms("simple arithmetic") | arms("minimal", label=_TWO_INPUTS))
_EXP5 = Layout("schloer2020:exp5", arms("simple function", RMSPROP))

ENTRIES = (
    TrainedStudy(
        "schloer2020:exp1",
        "Minimal arithmetic task: two inputs, one layer, seven distributions",
        SOURCE.format(1),
        _EXP1.compute,
        _EXP1.plan,
        metrics=METRICS,
        main=len(METRICS),
        claims=(
            *_claims(MINIMAL),
            *(
                Claim(row, "fails to multiply inputs of exponential 0.2 (D.1)", none(row, [_SCALE_OF_5]))
                for row in _INALUS
            ),
            Claim(
                _OWN,
                "succeeds in multiplication by the range of the inputs (D.2)",
                _uneven(_OWN, columns(MINIMAL, "mul")),
            ),
        ),
        draw=draw,
        note="Trained by Adam at 0.001, by which the published results were made: replayed from the authors' "
        "seeds, it gives the published outcome of all four cells that were tried, and the RMSProp at 0.01 of "
        "their public program of none. The thesis names no optimiser; its table 3.1 has the rate 0.001. The "
        "rows RMSProp are the public program as it is. The exponential distributions have the scales 0.2 and "
        "0.8, as in that program; the thesis takes 0.2 for the rate, which would be a scale of 5. Both NALUs "
        "are the same model here: with one output there is one gate.",
    ),
    TrainedStudy(
        "schloer2020:exp3",
        "Simple arithmetic task: ten inputs of which two matter, one layer, seven distributions",
        SOURCE.format(3),
        _EXP3.compute,
        _EXP3.plan,
        metrics=METRICS,
        main=len(METRICS),
        claims=(*_claims(SIMPLE_ARITHMETIC), *_of_redundancy()),
        draw=draw,
        note="The distributions are those of experiment 1, as in the authors' public results, which call "
        "this their experiment 2; the published rates are those of the legends of its two figures. No text "
        "says which two inputs matter: here the first two, which is no loss of generality, as inputs and "
        "variables are drawn independently. No text names the optimiser: here Adam at 0.001, as in "
        "experiment 1; by RMSProp at 0.01 three seeds of the iNALU with shared weights succeed in 0.76 of "
        "all divisions, of which 0.04 are published. The rows with 2 inputs are the runs of experiment 1.",
    ),
    TrainedStudy(
        "schloer2020:exp5",
        "Simple function task: 100 inputs, two layers, two distributions",
        SOURCE.format(5),
        _EXP5.compute,
        _EXP5.plan,
        metrics=METRICS,
        main=len(METRICS),
        claims=tuple(_claims(SIMPLE_FUNCTION)),
        draw=draw,
        note="The number is the thesis's (section 3.1), where experiment 4 is the influence of "
        "initialisation; the authors' public program calls this task its experiment 4. Trained by that "
        "program's RMSProp at 0.01; the thesis (table 3.1) gives a learning rate of 0.001. Where a layer has "
        "several outputs, the program takes the weights of the sign in another order than those of the "
        "product; here both belong to the same inputs, as in the paper.",
    ),
)
