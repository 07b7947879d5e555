"""The rows of a benchmark, computed from stored curves."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from nalm.evaluate.judged import Judged, assess
from nalm.evaluate.outcome import Limits, limits
from nalm.evaluate.summary import Assessment, summarise, summarise_costs
from nalm.experiment.facets import References, is_reference, judged_on_facet, limits_of, on_facet
from nalm.experiment.rebuild import read
from nalm.experiment.run import Case, Run
from nalm.experiment.store import BULK, Record, Store
from nalm.tasks import Task

NO_FORMULA = "not readable"
"""The key of runs whose model cannot be read as a formula."""
JudgedRuns = list[Judged[Record]]


class Cases(Protocol):
    """What to evaluate: cases, each with its seeds 0 … seeds - 1."""

    @property
    def cases(self) -> tuple[Case, ...]: ...  # noqa: D102
    @property
    def seeds(self) -> int: ...  # noqa: D102
    def runs(self) -> Iterator[Run]: ...  # noqa: D102


def evaluate(experiment: Cases, store: Store, threshold: float | None = None) -> Iterator[dict[str, Any]]:
    """One row per case, from stored curves, judged by the task's own threshold or by the one given."""
    formulas = any(case.task.has_formulas for case in experiment.cases)
    facets = any(case.task.facets() for case in experiment.cases)
    held = list(stored_runs(experiment, store, curves_only=not formulas, with_errors=facets))
    references = {case.task: records for case, records in held if is_reference(case)}
    for case, records in held:
        if case.task.facets():
            yield from _facet_rows(case, records, references, threshold)
            continue
        row = _row(case, records, judged_runs(case, records, threshold))
        yield {**row, **found_formulas(case.task, records)} if case.task.has_formulas else row


def _facet_rows(
    case: Case, records: Sequence[Record], references: References, threshold: float | None
) -> Iterator[dict[str, Any]]:
    """One row per facet of the task."""
    for facet in case.task.facets():
        runs, solved = (on_facet(each, facet) for each in (records, references.get(case.task, ())))
        judged = judged_on_facet(runs, solved, threshold, limits_of(case.task, facet))
        row = _row(case, runs, judged)
        reference = case.task.reference if threshold is None else None
        told = {"labels": dict(facet.labels), "error": facet.curve, "reference": reference}
        yield {**row, "labels": {**row["labels"], **facet.labels}, "facet": told}


def found_formulas(task: Task, records: Sequence[Record]) -> dict[str, Any]:
    """Which formulas the runs of a task have found, how many runs each, and how many are the right one."""
    counts: Counter[str] = Counter()
    equal = 0
    for record in records:
        _, known = read(record)
        readable = known is not None and known.readable
        counts[str(known.expressions[0]) if known is not None and readable else NO_FORMULA] += 1
        equal += known is not None and readable and task.is_solution(known.expressions[0])
    return {"found": dict(counts.most_common()), "equal": equal}


def judged_cases(
    experiment: Cases,
    store: Store,
    threshold: float | None = None,
    *,
    curves_only: bool = True,
    partly: bool = False,
) -> Iterator[tuple[Case, JudgedRuns]]:
    """The runs of each case, judged by the task's own threshold or by the one given.

    Args:
        experiment: which cases and seeds.
        store: the store that has all of their runs.
        threshold: the error below which a run is solved, instead of the task's.
        curves_only: leave parameters out, which is many times faster.
        partly: whether runs may be missing in the store, which are then left out.
    """
    for case, records in stored_runs(experiment, store, curves_only=curves_only, partly=partly):
        yield case, judged_runs(case, records, threshold)


def judged_runs(case: Case, records: Sequence[Record], threshold: float | None = None) -> JudgedRuns:
    """The runs of a case, judged; runs without a threshold are left out."""
    common = limits(case.task) if threshold is None else Limits(threshold, threshold)
    judged = []
    for record in records:
        below = common or limits(case.task, record.ideal_test, record.ideal_validation)
        if below is not None:
            judged.append(Judged(record, below, assess(record, below)))
    return judged


def stored_runs(
    experiment: Cases, store: Store, *, curves_only: bool, partly: bool = False, with_errors: bool = False
) -> Iterator[tuple[Case, list[Record]]]:
    """The stored runs of each case; with `partly`, some may be missing; with further errors if wanted."""
    wanted = {run.id for run in experiment.runs()}
    left_out = [name for name in BULK if not (with_errors and name == "errors")] if curves_only else []
    records = {record.id: record for record in store.records(wanted, without=left_out)}
    for case in experiment.cases:
        names = (Run(case, seed).id for seed in range(experiment.seeds))
        yield case, [records[name] for name in names if not partly or name in records]


def _row(case: Case, records: Sequence[Record], judged: Sequence[Judged[Record]]) -> dict[str, Any]:
    model = case.model
    return {
        "model": str(model),
        "unit": model.name,
        "recipe": model.recipe_name(case.task.stack_recipe),
        "options": model.all_options,
        **summary_row(
            case.task,
            case.recipe.iterations,
            [run.assessment for run in judged],
            [run.below.test for run in judged],
            [record.cost for record in records],
        ),
        "runs": len(records),
        "errors": {
            split: _median([getattr(record, split)[record.chosen] for record in records])
            for split in ("validation", "test")
        },
        "schedule": asdict(case.timing),
    }


def _median(errors: Sequence[float]) -> float | None:
    """The median; None if it is not finite."""
    found = statistics.median(errors)
    return float(found) if math.isfinite(found) else None


def summary_row(
    task: Task,
    iterations: int,
    assessments: Sequence[Assessment],
    thresholds: Sequence[float],
    costs: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """The measures of the runs of a case, with its task and number of steps.

    Args:
        task: the task.
        iterations: the number of steps.
        assessments: what became of each run.
        thresholds: for each run, the test error below which it is solved.
        costs: for each run, the cost of second-order training.
    """
    return {
        **task.about(),
        "iterations": iterations,
        # If every run has its own threshold, the median is reported.
        "threshold": statistics.median(thresholds) if thresholds else None,
        **summarise(assessments),
        "second_order": summarise_costs(costs),
    }
