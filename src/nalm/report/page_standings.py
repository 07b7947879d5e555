"""Units in the order of their success on an operation, and which of them a test tells apart from the best.

Only units of one budget are compared, and only those that were run on all ranges can be the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nalm.evaluate.intervals import Interval, success_interval
from nalm.evaluate.outcome import Outcome
from nalm.papers.agreement import CHANCE, exact_test
from nalm.report.page_rows import PageRow


@dataclass(frozen=True)
class Standing:
    """The success of a unit over all its ranges.

    Attributes:
        label: the unit.
        solved: the number of runs that are solved.
        runs: the number of all its runs.
        steps: the mean step at which runs are solved; infinity if none is.
        partial: which part of the ranges it was run on, such as `2 of 9 ranges`; empty if on all.
        best: whether it has the highest success of several.
        leads: whether it is the best of several, or a test does not tell it apart from the best.
    """

    label: str
    solved: int
    runs: int
    steps: float
    partial: str
    best: bool = False
    leads: bool = False

    @property
    def success(self) -> Interval:
        """The share of runs that are solved."""
        return success_interval(self.solved, self.runs)

    @property
    def share(self) -> float:
        """The share of runs that are solved, without its interval."""
        return self.solved / self.runs


def standings(rows: Sequence[PageRow]) -> list[Standing]:
    """The units of these rows, best first; those that were run on only some of the ranges come last."""
    groups: dict[str, list[PageRow]] = {}
    for row in rows:
        groups.setdefault(row.label, []).append(row)
    ranges = _ranges(rows)
    found = [_standing(label, group, ranges) for label, group in groups.items()]
    found.sort(key=lambda each: (bool(each.partial), -each.share, each.steps))
    whole = [each for each in found if not each.partial]
    if len(found) < 2 or not whole or not whole[0].solved:
        return found
    return [_compared(each, whole[0], len(whole) - 1) for each in found]


def _standing(label: str, rows: Sequence[PageRow], ranges: int) -> Standing:
    assessments = [run.assessment for row in rows for run in row.case.runs]
    steps = [each.solved_at or 0 for each in assessments if each.outcome is Outcome.SOLVED]
    mean = sum(steps) / len(steps) if steps else float("inf")
    run = _ranges(rows)
    partial = "" if run == ranges else f"{run} of {ranges} ranges"
    return Standing(label, len(steps), len(assessments), mean, partial)


def _compared(unit: Standing, top: Standing, others: int) -> Standing:
    """The unit beside the best one; with many units, some would seem to differ by chance."""
    if unit.partial:
        return unit
    if unit.share == top.share:
        return replace(unit, best=True, leads=True)
    p = exact_test(top.solved, top.runs, unit.solved, unit.runs)
    return replace(unit, leads=p >= CHANCE / others)


def _ranges(rows: Iterable[PageRow]) -> int:
    """The number of ranges, those of each operation counted separately."""
    return len({(row.op, row.range) for row in rows})
