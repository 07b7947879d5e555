"""Heim et al. 2020: neural power units."""

from __future__ import annotations

from nalm.papers.claims import Check, Claim, Findings
from nalm.papers.entry import Study
from nalm.papers.programs import heim_large, heim_simple
from nalm.papers.programs._protocol import measure


def _lowest(row: str, columns: tuple[str, ...], rows: tuple[str, ...], metric: str) -> Check:
    """No other row has a lower error in any of these columns."""

    def check(f: Findings) -> bool:
        return all(
            _value(f, row, c, metric) <= _value(f, other, c, metric) for c in columns for other in rows
        )

    return check


def _value(f: Findings, row: str, column: str, metric: str) -> float:
    value = f[row, column, metric].value
    return float("inf") if value is None else value


ENTRIES = (
    Study(
        "heim2020:table1",
        "x + y, x y, x / y and sqrt(x) by one network",
        "Heim et al. 2020, table 1",
        heim_simple.compute,
        metrics=(measure("test MAE", ""),),
        claims=(
            Claim(
                "Real NPU",
                "has the lowest errors on division and root",
                _lowest("Real NPU", ("div", "sqrt"), tuple(heim_simple.ROWS), "test MAE"),
            ),
            Claim(
                "NMU",
                "has the lowest error on multiplication",
                _lowest("NMU", ("mul",), tuple(heim_simple.ROWS), "test MAE"),
            ),
        ),
        note=(
            "Median plus and minus the median absolute deviation of the mean absolute error on a grid, after"
            " the last step."
        ),
    ),
    Study(
        "heim2020:table2",
        "Large scale arithmetic",
        "Heim et al. 2020, table 2",
        heim_large.compute,
        metrics=(measure("test error", ""),),
        claims=(
            Claim(
                "NPU",
                "has the lowest error on the reciprocal",
                _lowest("NPU", ("recip",), tuple(heim_large.ROWS), "test error"),
            ),
            Claim(
                "Real NPU",
                "has the lowest error on the root",
                _lowest("Real NPU", ("sqrt",), tuple(heim_large.ROWS), "test error"),
            ),
            Claim(
                "NMU",
                "has the lowest errors on addition and multiplication",
                _lowest("NMU", ("add", "mul"), tuple(heim_large.ROWS), "test error"),
            ),
        ),
        note=(
            "Median plus and minus the median absolute deviation of the mean squared error after the last"
            " step. The authors kept the ten best of more runs by test error; none is left out here. Batches"
            " are the first 128 Sobol points with a fresh digital shift."
        ),
    ),
)
