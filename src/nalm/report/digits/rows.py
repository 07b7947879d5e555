"""The table of a group: one row per model, with what its task measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.evaluate.summary import summarise
from nalm.experiment.facets import judged_on_facet, on_facet
from nalm.experiment.store import Record
from nalm.report.digits.cases import DigitCase, DigitGroup
from nalm.report.digits.confusion import accuracy, confusion
from nalm.report.digits.weights import RunWeights
from nalm.tasks import Facet

SHOWN_LENGTHS = (1, 2, 5, 10, 20, 100, 500, 1000)
"""The lengths with a column, where a task has them: twenty would not fit."""
NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """A cell of the table.

    Attributes:
        estimate: its number as text.
        interval: an interval or a range, beside the number.
        below: another number, below it.
    """

    estimate: str
    interval: str = ""
    below: str = ""


@dataclass(frozen=True)
class Column:
    """A column of the table: its heading, and the cell of each case."""

    heading: str
    cells: tuple[Cell, ...]


def columns_of(group: DigitGroup, weights: Sequence[Sequence[RunWeights]]) -> list[Column]:
    """The columns after runs and steps; those without any number are left out.

    Args:
        group: the group.
        weights: the weights of the runs of each of its cases.
    """
    facets = group.facets
    columns = [_by_length(group, facet) for facet in facets if facet.labels.get("length") in SHOWN_LENGTHS]
    columns += [_accuracy(group, facet) for facet in facets if "length" not in facet.labels]
    columns.append(Column("digits read, %", tuple(map(_digits_read, group.cases))))
    columns.append(Column("exact weights", tuple(map(_exact, weights))))
    return [column for column in columns if any(cell.estimate != NOTHING for cell in column.cells)]


def is_judged(group: DigitGroup) -> bool:
    """Whether the runs of the group succeed or fail at any length."""
    return any(_judged(group, group.cases[0], facet) for facet in group.facets)


def at_facet(runs: Sequence[Record], facet: Facet) -> np.ndarray:
    """The error of each run on a facet; one that is not finite is infinite."""
    errors = np.array([run.test.item(run.chosen) for run in on_facet(runs, facet)])
    return np.where(np.isfinite(errors), errors, np.inf)


def number(value: float) -> str:
    """A number with three digits."""
    if not np.isfinite(value):
        return "not finite"
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1e3 <= abs(value) < 1e6 else text


def _by_length(group: DigitGroup, facet: Facet) -> Column:
    return Column(
        f"length {facet.labels['length']:,}", tuple(_length_cell(group, case, facet) for case in group.cases)
    )


def _length_cell(group: DigitGroup, case: DigitCase, facet: Facet) -> Cell:
    """Success with its interval and the median error below; the error alone, if there is no success."""
    error = number(float(np.median(at_facet(case.runs, facet))))
    success = _judged(group, case, facet)
    if not success:
        return Cell(error)
    return Cell(f"{success['rate']:.2f}", f"[{success['low']:.2f}, {success['high']:.2f}]", error)


def _judged(group: DigitGroup, case: DigitCase, facet: Facet) -> dict[str, float]:
    """The success of the runs by those of the reference; empty without one."""
    if group.reference is None:
        return {}
    runs, solved = (on_facet(each.runs, facet) for each in (case, group.reference))
    judged = judged_on_facet(runs, solved)
    found: dict[str, float] = summarise([run.assessment for run in judged])["success"] if judged else {}
    return found


def _accuracy(group: DigitGroup, facet: Facet) -> Column:
    words = [f"accuracy {value}" for value in facet.labels.values()] or ["accuracy"]
    return Column(
        f"{', '.join(words)}, %",
        tuple(_mean_and_range(100 - 100 * at_facet(case.runs, facet)) for case in group.cases),
    )


def _digits_read(case: DigitCase) -> Cell:
    found = [accuracy(table) for table in map(confusion, case.runs) if table is not None]
    return _mean_and_range(100 * np.array(found)) if found else Cell(NOTHING)


def _exact(weights: Sequence[RunWeights]) -> Cell:
    known = [run.exact for run in weights if run.exact is not None]
    return Cell(f"{sum(known)} of {len(known)}") if known else Cell(NOTHING)


def _mean_and_range(values: np.ndarray) -> Cell:
    low, high = (f"{value:.1f}" for value in (values.min(), values.max()))
    return Cell(f"{values.mean():.1f}", f"{low} to {high}" if low != high else "")
