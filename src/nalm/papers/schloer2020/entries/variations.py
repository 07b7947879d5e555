"""Experiments 2 and 4 of the iNALU's authors (thesis, appendix D.1 and section 2.3.4): magnitudes, starts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from nalm.papers.claims import Check, Claim, Findings, best, full, none, not_full
from nalm.papers.entry import TrainedStudy
from nalm.papers.schloer2020.entries.experiments import SOURCE
from nalm.papers.schloer2020.entries.layouts import ERROR, METRICS, Arm, Layout, arms, columns, draw
from nalm.papers.schloer2020.programs.layers import KINDS
from nalm.papers.schloer2020.programs.tasks import FUNCTIONS, INITIALISATION, MAGNITUDE, MAGNITUDES
from nalm.papers.schloer2020.programs.training import BEST, RMSPROP, Start

_MATRIX, _VECTOR, _SHARED, _OWN = (kind.name for kind in KINDS)


def _errors(f: Findings, row: str, operation: str) -> list[float]:
    """The median errors of a row from magnitude to magnitude; infinite where a median is not finite."""
    values = [f[row, column, ERROR.name].value for column in columns(MAGNITUDE, operation)]
    return [float("inf") if value is None else value for value in values]


def rises(row: str, operation: str) -> Check:
    """The error grows from each magnitude to the next."""
    return lambda f: all(a < b for a, b in itertools.pairwise(_errors(f, row, operation)))


def unordered(row: str, operation: str) -> Check:
    """The error neither grows nor falls all the way.

    With five magnitudes only a perfect order is a significant rank correlation: its chance is 2 / 5!.
    """

    def check(f: Findings) -> bool:
        found = _errors(f, row, operation)
        return found not in (sorted(found), sorted(found, reverse=True))

    return check


def _of_magnitude() -> Iterator[Claim]:
    """What the thesis says of experiment 2."""
    above = [
        f"{name} {found.label}"
        for name in FUNCTIONS
        for size, found in zip(MAGNITUDES, MAGNITUDE.distributions)
        if size > 1
    ]
    for row in (_MATRIX, _VECTOR):
        yield Claim(row, "fails on magnitudes greater than 1", none(row, above))
    for row in (_SHARED, _OWN):
        sums = columns(MAGNITUDE, "add", "sub")
        yield Claim(row, "is unaffected in addition and subtraction", full(row, sums))
        yield Claim(row, "the error of multiplication increases with magnitude", rises(row, "mul"))
        yield Claim(row, "the error of division is uncorrelated to magnitude", unordered(row, "div"))


def named(start: Start) -> str:
    """The means as a row, such as `W 1, M -1, g 0`."""
    return f"W {start.w:g}, M {start.m:g}, g {start.g:g}"


_EXP2 = Layout("schloer2020:exp2", arms("magnitude"), (*METRICS, ERROR))
_EXP4 = Layout(
    "schloer2020:exp4",
    {named(start): Arm(_OWN, "initialisation", RMSPROP, start) for start in INITIALISATION.starts},
    seeds=3,
    epochs=25,
)

ENTRIES = (
    TrainedStudy(
        "schloer2020:exp2",
        "Input magnitude: two inputs, one layer, five magnitudes",
        SOURCE.format(2),
        _EXP2.compute,
        _EXP2.plan,
        metrics=(*METRICS, ERROR),
        main=len(METRICS) + 1,
        claims=tuple(_of_magnitude()),
        draw=draw,
        note="The texts state neither magnitudes nor ranges. Here inputs are uniform in (0, m), so that the "
        "NALU, which has no signs, can multiply and divide them, and twice as large in extrapolation: "
        "uniform in (m, 2m), for m from 0.1 to 1000. Quotients then have the same distribution at every "
        "magnitude. All else is as in experiment 1, with Adam at 0.001.",
    ),
    TrainedStudy(
        "schloer2020:exp4",
        "Influence of initialisation: the simple function task from 27 means",
        SOURCE.format(4) + " and section 2.3.4",
        _EXP4.compute,
        _EXP4.plan,
        metrics=METRICS,
        main=len(METRICS),
        claims=(
            Claim(
                named(BEST),
                "is the most stable of all means (2.3.4)",
                best(named(BEST), [named(start) for start in INITIALISATION.starts]),
            ),
            Claim(
                named(BEST),
                "is not stable in division even so (2.3.4)",
                not_full(named(BEST), columns(INITIALISATION, "div")),
            ),
        ),
        draw=draw,
        note="The means of W, M and g are each -1, 0 or 1 with a standard deviation of 0.1, for the iNALU "
        "with independent weights on the simple function task with normal inputs (thesis, section 3.1), "
        "by RMSProp as in experiment 5. The authors' public plan has 20 seeds, 201 epochs, also a "
        "standard deviation of 0.5, and inputs cut at -2 and 2; here 3 seeds and 25 epochs. All starts "
        "of a seed have the same data and the same noise around their means.",
    ),
)
