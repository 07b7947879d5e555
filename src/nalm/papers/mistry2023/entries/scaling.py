"""Thesis, section 6.1: feature scaling."""

from __future__ import annotations

import math

from nalm.papers.claims import Check, Claim, Findings, none, some
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.mistry2023.programs import feature_scaling
from nalm.papers.shared.findings import measure
from nalm.papers.shared.series import label

_POSITIVE = [label(name) for name in ("0.1:0.2", "1:2", "1.1:1.2", "10:20")]
_LEAST = 1e-16
"""Smaller errors are compared as if they were this large."""
_NMU = "NMU (reg on)"
_SCALED = [row for row in feature_scaling.VARIANTS if not row.startswith("NMU")]


def _less_sparse(row: str) -> Check:
    """The sparsity error of a row is above that of the NMU on every range."""
    metric = "sparsity of all"
    return lambda f: all(
        _value(f, row, column, metric) > _value(f, _NMU, column, metric) for column in f.columns(row)
    )


def _like(row: str, other: str) -> Check:
    """The test errors of two rows are less than a power of ten apart, on average over ranges."""

    def check(f: Findings) -> bool:
        columns = f.columns(row)
        return sum(_gap(f, (row, c), (other, c)) for c in columns) < len(columns)

    return check


def _gap(f: Findings, a: tuple[str, str], b: tuple[str, str]) -> float:
    first, second = (max(_value(f, *each, "test error"), _LEAST) for each in (a, b))
    return abs(math.log10(first / second))


def _lower_errors(row: str, other: str) -> Check:
    """The median test error of one row is below that of another on every positive range."""
    return lambda f: all(
        _value(f, row, column, "test error") < _value(f, other, column, "test error") for column in _POSITIVE
    )


def _grows(row: str) -> Check:
    """The test error is more than ten times the validation error on every range."""
    return lambda f: all(
        _value(f, row, column, "test error") > 10 * _value(f, row, column, "validation error")
        for column in f.columns(row)
    )


def _value(f: Findings, row: str, column: str, metric: str) -> float:
    value = f[row, column, metric].value
    return math.inf if value is None else value


ENTRIES = (
    TrainedStudy(
        "mistry2023:fig6.1",
        "Single module, multiplication, NMU: feature scaling",
        "thesis, section 6.1",
        feature_scaling.compute,
        feature_scaling.plan,
        draw=feature_scaling.draw,
        metrics=(
            SUCCESS,
            measure("test error", "median test error"),
            measure("validation error", "median validation error"),
            measure("sparsity of all", "median sparsity error of all seeds"),
        ),
        main=2,
        claims=(
            Claim(
                "all",
                "only the NMU without scaling reaches the thresholds",
                lambda f: some(_NMU)(f) and all(none(row)(f) for row in _SCALED),
            ),
            *(
                Claim(
                    name,
                    "regularisation makes little difference",
                    _like(f"{name} (reg on)", f"{name} (reg off)"),
                )
                for name in ("min-max", "z-score")
            ),
            *(
                Claim(row, "has larger sparsity errors than the NMU", _less_sparse(row))
                for row in _SCALED
                if row.endswith("(reg on)")
            ),
            *(
                Claim(
                    f"min-max (reg {word})",
                    "has lower test errors than z-scores on positive ranges",
                    _lower_errors(f"min-max (reg {word})", f"z-score (reg {word})"),
                )
                for word in ("off", "on")
            ),
            *(
                Claim(row, "has much larger errors outside the training range", _grows(row))
                for row in _SCALED
            ),
        ),
        note=(
            "Statistics are those of 100,000 training samples; the learnt scales and shifts of equation 6.1,"
            " whose first values the thesis leaves open, start at 1 and 0. On U[-2,2) exact statistics would"
            " make z-scores solvable, by a mean of zero; those of a sample do not."
        ),
    ),
)
