"""What is said above a table: what the numbers mean, by whom success is judged, and what was reduced."""

from __future__ import annotations

import contextlib

from nalm.errors import NalmError
from nalm.experiment.run import Case
from nalm.papers.shared.digits import less_than_the_papers
from nalm.report.digits.cases import DigitGroup
from nalm.report.digits.lengths import error_name
from nalm.report.digits.rows import is_judged
from nalm.report.page_data import seeds_text, when
from nalm.tasks import MnistColour, MnistParity
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.sequences import SequenceTask

RESULTS = {
    "mul": "product",
    "add": "sum",
    "div": "quotient",
    "count": "count of that digit",
    "gt": "answer (1 if the first is larger)",
    "count-even": "number of even digits",
}
"""What the networks compute, by operation."""

WAYS = {
    "exact": "the same floating-point number",
    "5 decimals": "the same to five decimals",
    "rounded": "the same as a whole number",
    "whole digits": "to five decimals, with readings rounded to digits first",
}
"""When a result is right, by the name of the accuracy."""


def about(task: DigitTask) -> str:
    """What the task is: the first line of its class's description."""
    return (type(task).__doc__ or "").strip().splitlines()[0].replace("`", "")


def meaning(group: DigitGroup) -> str:
    """What the numbers of the table mean."""
    by_length = [facet for facet in group.facets if "length" in facet.labels]
    if by_length:
        return _success(group, error_name(by_length[0]))
    ways = [str(value) for facet in group.facets for value in facet.labels.values()]
    told = ", ".join(f"{way} ({WAYS[way]})" for way in ways if way in WAYS)
    return f"{_ACCURACY} It is counted in several ways: {told}." if len(ways) > 1 else _ACCURACY


def below_images(task: DigitTask) -> str:
    """What stands below an image."""
    result = RESULTS.get(task.op, "result")
    if isinstance(task, MnistParity):
        return f"Below an image: the {result} that was counted and, in brackets, the true one."
    so_far = " so far" if isinstance(task, SequenceTask) else ""
    colours = " The first digit is blue, the second orange." if isinstance(task, MnistColour) else ""
    return (
        f"Below an image: what was read, then the {result}{so_far} and, in brackets, the true one.{colours}"
    )


def protocol(group: DigitGroup) -> str:
    """How the runs were made: what falls short of the paper, the data, the seeds, and when."""
    return " ".join([*_reduced(group), *_runs(group)])


_ACCURACY = (
    "Accuracy is the share of test samples with the right result: its mean over the runs, and the range."
)


def _success(group: DigitGroup, error: str) -> str:
    name, shown = group.task.reference, f"Each column has the {error}, the median over the runs."
    if name is None:
        return shown
    if not is_judged(group):
        missing = f"two runs of {name}, whose arithmetic is solved, with as many steps"
        return f"{shown} Success is not judged, because the store does not have {missing}."
    return (
        f"A run succeeds at a length if its {error} is below that of {name}, whose arithmetic is solved: "
        f"below the upper end of the one-sided 1 % t interval of its runs. Each column has the share of runs "
        f"that succeed, with its 95 % interval, and below it the median error."
    )


def _reduced(group: DigitGroup) -> list[str]:
    """How the runs fall short of the paper's protocol."""
    less = "; ".join(_less(group))
    if group.task.is_quick:
        said = "This is the reduced protocol of --scale quick, not that of the paper"
        return [f"{said}: {less}." if less else f"{said}."]
    return [f"This is less than the protocol of the paper: {less}."] if less else []


def _less(group: DigitGroup) -> list[str]:
    full = type(group.task)(op=group.task.op, digits=group.task.digits)
    for case in filter(None, (each.case() for each in group.cases)):
        with contextlib.suppress(NalmError):  # a model that has no usual recipe for the operation
            return less_than_the_papers(case, Case(case.model, full))
    return []


def _runs(group: DigitGroup) -> list[str]:
    records = [run for case in group.cases for run in case.runs]
    times = sorted(run.computed_at for run in records if run.computed_at)
    common = [f"All runs: {'; '.join(group.common)}."] if group.common else []
    drawn = (
        ["The digits were drawn by nalm and are not those of MNIST."] if group.task.digits == "drawn" else []
    )
    seeds = {run.seed for run in records}
    said = f"Seed{'' if len(seeds) == 1 else 's'} {seeds_text(seeds)}, computed {when(times)}."
    return [*drawn, *common, said]
