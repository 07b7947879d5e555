"""Rows of a task that is judged in several ways at once, such as by the length of sequences.

Where a task names a reference, whose arithmetic is solved, its runs set the errors below which others
succeed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nalm.evaluate.judged import Judged, assess
from nalm.evaluate.outcome import Limits
from nalm.evaluate.reference import upper_bound
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.tasks import Facet, Split, Task

References = Mapping[Task, Sequence[Record]]
"""The runs of the reference of each task."""


def is_reference(case: Case) -> bool:
    """Whether a case is that of its task's reference."""
    return case.task.reference is not None and str(case.model) == case.task.reference


def on_facet(records: Sequence[Record], facet: Facet) -> list[Record]:
    """The same runs with the error of the facet as their error on the test set."""
    return [replace(record, test=_curve(record, facet)) for record in records]


def judged_on_facet(
    records: Sequence[Record],
    reference: Sequence[Record],
    threshold: float | None = None,
    known: Limits | None = None,
) -> list[Judged[Record]]:
    """Runs judged by a threshold, by known limits, or by the reference on the same facet; none without any.

    Args:
        records: the runs, on the facet.
        reference: the runs of the reference, on the facet.
        threshold: the error below which a run is solved, which comes before all else.
        known: the limits of the facet, see `limits_of`.
    """
    below = known or _limits(reference)
    if threshold is not None:
        below = Limits(threshold, threshold)
    if below is None:
        return []
    return [Judged(record, below, assess(record, below)) for record in records]


def limits_of(task: Task, facet: Facet) -> Limits | None:
    """The limits that a facet sets itself; None if it leaves them to a reference."""
    return None if facet.below is None else Limits(facet.below, task.threshold(Split.VALIDATION))


def _limits(reference: Sequence[Record]) -> Limits | None:
    test, validation = (
        upper_bound([getattr(record, name)[record.chosen] for record in reference])
        for name in ("test", "validation")
    )
    return None if test is None else Limits(test, validation)


def _curve(record: Record, facet: Facet) -> np.ndarray:
    held = record.errors[facet.curve]
    return held if facet.index is None else held[facet.index]
