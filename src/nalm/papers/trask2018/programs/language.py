"""Language to number: what is trained, and how the best run is chosen (Trask et al. 2018, appendix D).

Every model is trained with two layer sizes and two learning rates. Of all its runs the one with the lowest
validation error is reported, as in the paper; beside it stands the median over the seeds of its size and
rate, because the best of forty runs says little about the next one. The reduced protocol has the higher rate
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, FewerRuns, chosen_rows, fewer
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median
from nalm.tasks import Language
from nalm.tasks.language.task import RATES, SEEN, SIZES

SEEDS = 10
BEST, MEDIAN = "MAE", "median MAE"
TRAIN, VALIDATION, TEST = COLUMNS = ("train", "validation", "test")


@dataclass(frozen=True)
class LanguageRow:
    """A model that is trained with all sizes and rates.

    Attributes:
        row: its name in the paper.
        model: the unit behind the LSTM, as written on the command line.
        op: how the states of the LSTM become one number, see `nalm.tasks.Language`.
    """

    row: str
    model: str
    op: str = "outputs"

    def cases(self, scale: Scale) -> list[Case]:
        """One case for each size and rate; the reduced protocol has too few steps for the lower rate."""
        rates = RATES[:1] if is_reduced(scale) else RATES
        return [language_case(self.model, self.op, size, rate, scale) for size in SIZES for rate in rates]


def is_reduced(scale: Scale) -> bool:
    """Whether the task's reduced protocol is run, not a part of the paper's steps."""
    return scale.quick and scale.steps is None


def language_case(model: str, op: str, size: int, rate: float, scale: Scale) -> Case:
    """A unit behind an LSTM of one size, trained with one learning rate."""
    full = Language(op, size)
    task = full.reduced() if is_reduced(scale) else full
    plain = Case(ModelSpec.parse(model), task, schedule="scaled")
    recipe = task.with_rate(plain.named_recipe, rate)
    steps = None if scale.steps is None else max(1, round(scale.steps * recipe.iterations))
    return replace(plain, iterations=steps, other_recipe=None if recipe == plain.named_recipe else recipe)


@dataclass(frozen=True)
class Chosen:
    """The run of a row with the lowest validation error.

    Attributes:
        row: the row.
        case: its size and rate.
        run: the run.
        others: all runs of that size and rate, itself included.
        count: the number of runs that it was chosen from.
    """

    row: LanguageRow
    case: Case
    run: Record
    others: Sequence[Record]
    count: int


def chosen_run(row: LanguageRow, records: Records, scale: Scale) -> Chosen | None:
    """The best run of a row by validation; None if none is stored. One that diverged is never the best."""
    held = [(case, runs) for case in row.cases(scale) if (runs := records.get(case))]
    if not held:
        return None
    case, runs, best = min(
        ((case, runs, run) for case, runs in held for run in runs), key=lambda each: _validation(each[2])
    )
    return Chosen(row, case, best, runs, sum(len(runs) for _, runs in held))


def _validation(run: Record) -> float:
    error = float(run.validation[run.chosen])
    return error if np.isfinite(error) else np.inf


def errors_of(run: Record) -> dict[str, float]:
    """The errors of a run at its chosen step, by column."""
    curves = {TRAIN: run.errors[f"{SEEN}/mae"], VALIDATION: run.validation, TEST: run.test}
    return {column: float(np.asarray(curve)[run.chosen]) for column, curve in curves.items()}


def table(chosen: Sequence[Chosen]) -> dict[Key, Finding]:
    """The errors of the best run of each row, and their medians over the seeds of its size and rate."""
    found: dict[Key, Finding] = {}
    for best in chosen:
        of_best, of_all = errors_of(best.run), [errors_of(run) for run in best.others]
        for column in COLUMNS:
            error = of_best[column]
            finite = error if np.isfinite(error) else None
            found[best.row.row, column, BEST] = Finding(finite, None, None, best.count)
            found[best.row.row, column, MEDIAN] = median([errors[column] for errors in of_all])
    return found


@dataclass(frozen=True)
class LanguageTable:
    """Rows of models and what is read from their best runs.

    Attributes:
        entry: the name of the entry.
        rows: what is trained.
    """

    entry: str
    rows: tuple[LanguageRow, ...]

    def wanted(self, scale: Scale) -> list[LanguageRow]:
        """The rows that the scale asks for."""
        names = chosen_rows(scale, (row.row for row in self.rows))
        return [row for row in self.rows if row.row in names]

    def plan(self, scale: Scale) -> list[Experiment]:
        """All sizes and rates of all rows."""
        cases = dict.fromkeys(case for row in self.wanted(scale) for case in row.cases(scale))
        return [Experiment(self.entry, tuple(cases), Budget(scale, SEEDS, SEEDS).seeds)]

    def chosen(self, scale: Scale, records: Records) -> list[Chosen]:
        """The best run of each row that has any."""
        found = (chosen_run(row, records, scale) for row in self.wanted(scale))
        return [best for best in found if best is not None]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """Train, validation and test error of each row."""
        chosen = self.chosen(scale, records)
        return self.measured(Findings(table(chosen)), scale, records, chosen)

    def measured(
        self, findings: Findings, scale: Scale, records: Records, chosen: Sequence[Chosen]
    ) -> Measured:
        """Findings with notes on what falls short of the paper."""
        wanted = self.wanted(scale)
        cases = [case for row in wanted for case in row.cases(scale)]
        runs = {case: len(records.get(case, ())) for case in cases}
        notes = [
            *map(FewerRuns, fewer("seeds", min(filter(None, runs.values()), default=0), SEEDS)),
            *fewer_steps(cases[0], wanted[0].cases(Scale())[0]),
            *([f"learning rates: {RATES[0]} alone, not {RATES[1]}"] if is_reduced(scale) else []),
            *fewer_settings([best.row for best in chosen], records, scale),
            *map(FewerRuns, fewer("cells", len(chosen), len(wanted))),
        ]
        partial = not all(runs.values())
        return Measured(findings, notes, chosen, partial=partial, runs=sum(runs.values()))


def fewer_settings(rows: Sequence[LanguageRow], records: Records, scale: Scale) -> list[str]:
    """A note on the sizes that were trained, if a row was not trained with all of its sizes and rates."""
    cases = [case for row in rows for case in row.cases(scale)]
    held = [case for case in cases if records.get(case)]
    if len(held) == len(cases):
        return []
    said = ", ".join(dict.fromkeys(f"{case.task.in_features} states" for case in held))
    return [f"sizes and rates: {len(held)} instead of {len(cases)} ({said})"]


def fewer_steps(case: Case, full: Case) -> list[str]:
    """How the training of a case falls short of the full one."""
    steps, whole = case.recipe.iterations, full.recipe.iterations
    task = case.task
    assert isinstance(task, Language)
    words = (
        "penalties grow in their third quarter, the learning rate falls to zero in their second half"
        if task.protocol == "quick"
        else "schedules shortened with them"
    )
    return [f"steps: {steps} instead of {whole}, {words}"] if steps < whole else []
