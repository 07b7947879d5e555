"""The thirteen models of thesis, table 7.3, on the 16 expressions, and what their runs have learnt.

A run has learnt an expression if the formula that `nalm.explain` reads from its weights and gates after the
last step is the target, or its error is below the threshold; a model has, if its run with the lowest
validation error has. The thesis says neither how many seeds it took nor what it counts as correct; this
reading was chosen after others had been compared with its numbers (docs/composition.md). The printed "average
errors" are read as those of all runs after the last step.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from nalm.evaluate.intervals import Interval, t_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.rebuild import model_of
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import FrozenSelector, ModelSpec, RecurrentSelector
from nalm.models.path import steps_of
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, FewerRuns, chosen_rows
from nalm.papers.claims import Answer, Check, Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.figures import row_of_panels
from nalm.papers.mistry2023.composition_setups import CompositionSetup, composition_setups
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact, found, share
from nalm.symbolic import Explanation, explain
from nalm.tasks import Composition, Split
from nalm.tasks.composition import TWO_STEPS
from nalm.tasks.sampling import sample
from nalm.units import units_of
from nalm.units.helpers import snap_

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS, STEPS = 20, 200_000
_QUICK_SEEDS, _QUICK_STEPS = 2, 0.02
_DRAWN_AGAIN, _ROWS = 1000, 32
RECURRENT, FROZEN = "Recurrent Input with [NAU, NAU, NMU]", "Recurrent Input with Frozen NALMs"
BY_LINE_13 = ", gradients by line 13"
"""Added to the rows of selectors that follow line 13 of algorithm 1 instead of the text."""
ALL, BEST, SCRATCHPAD = "all 16", "run with the lowest validation error", "reads a line of working"
CORRECT, PER_SEED = "correct", "correct per seed"
BELOW, BEFORE = "below the threshold per seed", "below the threshold per seed at the best step"
INTERPOLATION, EXTRAPOLATION = "interpolation", "extrapolation"
BEST_INTERPOLATION, BEST_EXTRAPOLATION = "best interpolation", "best extrapolation"


def rows_of_table() -> dict[str, CompositionSetup]:
    """The rows of table 7.3, and two of those with selectors once more, with the gradients of line 13."""
    setups = dict(composition_setups())
    for row in (RECURRENT, FROZEN):
        other = ModelSpec.parse(str(setups[row].model).replace(")", ";gradient=both)"))
        setups[row + BY_LINE_13] = replace(setups[row], row=row + BY_LINE_13, model=other)
    return setups


@dataclass(frozen=True)
class Layout:
    """Models on expressions.

    Attributes:
        entry: the name of the entry.
        rows: the rows of table 7.3 to train.
        ops: the expressions.
        summary: whether numbers over all expressions are wanted, as in table 7.3, or single ones.
    """

    entry: str
    rows: tuple[str, ...]
    ops: tuple[str, ...] = TWO_STEPS
    summary: bool = False

    def budget(self, scale: Scale) -> Budget:
        """Seeds and steps at a scale."""
        return Budget(scale, SEEDS, _QUICK_SEEDS, _QUICK_STEPS)

    def cases(self, scale: Scale) -> dict[tuple[str, str], Case]:
        """Every model on each expression, by row and expression."""
        setups, steps = rows_of_table(), self.budget(scale).steps(STEPS)
        rows = chosen_rows(scale, self.rows) if self.summary else self.rows
        return {(row, op): _case(setups[row], op, steps) for row in rows for op in self.ops}

    def plan(self, scale: Scale) -> list[Experiment]:
        """Every case, trained for every seed."""
        return [Experiment(self.entry, tuple(self.cases(scale).values()), self.budget(scale).seeds)]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """The numbers of the table, and the share of seeds that learn each expression."""
        findings: dict[Key, Finding] = {}
        runs: dict[str, dict[str, list[Run]]] = {}
        for (row, op), case in self.cases(scale).items():
            if records.get(case):
                runs.setdefault(row, {})[op] = [Run.of(case, record) for record in records[case]]
        for row, by_op in runs.items():
            findings |= _over_all(row, by_op) if self.summary else _one_by_one(by_op)
        count = sum(len(of_op) for by_op in runs.values() for of_op in by_op.values())
        partial = sum(map(len, runs.values())) < len(self.cases(scale))
        return Measured(Findings(findings), self._reduced(scale, runs), runs, partial, count)

    def _reduced(self, scale: Scale, runs: Mapping[str, Mapping[str, Sequence[Run]]]) -> list[str]:
        """What falls short of the full protocol: seeds, of all rows or of some, and steps."""
        counts = sorted({len(of_op) for by_op in runs.values() for of_op in by_op.values()})
        notes: list[str] = []
        if counts and counts[0] < SEEDS:
            span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
            notes.append(FewerRuns(f"seeds: {span} instead of {SEEDS}"))
        return notes + self.budget(scale).fewer_steps(STEPS)


def _case(setup: CompositionSetup, op: str, steps: int) -> Case:
    iterations = None if steps == STEPS else steps
    task = Composition(op)
    return Case(setup.model, task, iterations, setup.recipe, hidden=setup.hidden, schedule="scaled")


@dataclass(frozen=True)
class Run:
    """What became of one run: after its last step, and at the step with the lowest validation error."""

    validation: float
    test: float
    solved: bool
    below: bool
    below_before: bool
    reads_line: bool | None

    @classmethod
    def of(cls, case: Case, record: Record) -> Run:
        """From a stored run; errors that are not numbers are infinite."""
        task = case.task
        assert isinstance(task, Composition)
        validation, test = (
            float(np.nan_to_num(curve[-1], nan=np.inf, posinf=np.inf))
            for curve in (record.validation, record.test)
        )
        limit = task.threshold()
        before = bool(record.test[record.chosen] < limit)
        model = None if record.diverged_at >= 0 else model_of(record, final=True)
        reads = _reads_line(model, task)
        return cls(validation, test, test < limit or _is_learnt(model, task), test < limit, before, reads)


def _is_learnt(model: nn.Module | None, task: Composition) -> bool:
    """Whether a model can be read, and its formula is the target."""
    if model is None or not units_of(model) or not _is_close(model, task):
        return False
    found = explain(model, task.input_names, only_readable=True)
    assert isinstance(found, Explanation)
    return found.readable and task.is_solution(found.expressions[0])


def _is_close(model: nn.Module, task: Composition) -> bool:
    """Whether the model with rounded weights gives the target: some formulas take minutes to read."""
    rounded = copy.deepcopy(model).double().eval()
    snap_(rounded)
    x, y = sample(task, 0, Split.VALIDATION, _ROWS)
    with torch.no_grad():
        return torch.allclose(rounded(x), y, rtol=1e-3)


def _reads_line(model: nn.Module | None, task: Composition) -> bool | None:
    """Whether the last step of a selector reads a line of working; None for other models."""
    if not isinstance(model, (RecurrentSelector, FrozenSelector)):
        return None
    return steps_of(model, task.input_names)[-1].reads_lines


def best_of(runs: Sequence[Run]) -> Run:
    """The run with the lowest validation error."""
    return min(runs, key=lambda run: run.validation)


def _over_all(row: str, by_op: Mapping[str, Sequence[Run]]) -> dict[Key, Finding]:
    """Numbers over all expressions, and the share of seeds that learn each."""
    chosen = [best_of(runs) for runs in by_op.values()]
    seeds = min(map(len, by_op.values()))
    per_seed = [sum(runs[k].solved for runs in by_op.values()) for k in range(seeds)]
    below = [sum(runs[k].below for runs in by_op.values()) for k in range(seeds)]
    before = [sum(runs[k].below_before for runs in by_op.values()) for k in range(seeds)]
    found_: dict[Key, Finding] = {
        (row, ALL, CORRECT): found(_count_interval(list(by_op.values())), seeds),
        (row, ALL, PER_SEED): found(t_interval(per_seed), seeds),
        (row, ALL, BELOW): found(t_interval(below), seeds),
        (row, ALL, BEFORE): found(t_interval(before), seeds),
        (row, ALL, INTERPOLATION): _mean(_finite_mean(r.validation for r in runs) for runs in by_op.values()),
        (row, ALL, EXTRAPOLATION): _mean(_finite_mean(r.test for r in runs) for runs in by_op.values()),
        (row, ALL, BEST_INTERPOLATION): _mean(run.validation for run in chosen),
        (row, ALL, BEST_EXTRAPOLATION): _mean(run.test for run in chosen),
    }
    return found_ | {(row, op, "success"): share([r.solved for r in runs]) for op, runs in by_op.items()}


def _finite_mean(errors: Iterable[float]) -> float:
    """The mean of the errors of an expression that are finite: some runs diverge."""
    finite = [error for error in errors if np.isfinite(error)]
    return float(np.mean(finite)) if finite else np.inf


def _mean(errors: Iterable[float]) -> Finding:
    """The mean over expressions, where it is finite."""
    finite = [error for error in errors if np.isfinite(error)]
    return found(t_interval(finite), len(finite)) if finite else Finding(None, None, None, 0)


def _count_interval(by_op: Sequence[Sequence[Run]]) -> Interval:
    """The number of expressions learnt, and where it lies if the seeds are drawn again."""
    stream, counts = np.random.default_rng(0), []
    for _ in range(_DRAWN_AGAIN):
        drawn = (best_of([runs[k] for k in stream.integers(0, len(runs), len(runs))]) for runs in by_op)
        counts.append(sum(run.solved for run in drawn))
    value = sum(best_of(runs).solved for runs in by_op)
    low, high = np.quantile(counts, [0.025, 0.975])
    return Interval(float(value), min(float(low), value), max(float(high), value))


def _one_by_one(by_op: Mapping[str, Sequence[Run]]) -> dict[Key, Finding]:
    """For each expression the share of seeds that learn it, whether the best run does, and what it reads."""
    made: dict[Key, Finding] = {}
    for op, runs in by_op.items():
        made[op, "seeds", "success"] = share([run.solved for run in runs])
        made[op, BEST, "learnt"] = exact(float(best_of(runs).solved))
        if best_of(runs).reads_line is not None:
            made[op, SCRATCHPAD, "learnt"] = exact(float(bool(best_of(runs).reads_line)))
    return made


def is_learnt(op: str, expected: bool) -> Check:
    """Whether the best run learns an expression, as the thesis says it does or does not."""
    return _agrees(op, BEST, expected)


def reads_line(op: str, expected: bool) -> Check:
    """Whether the best run reads a line of working, as the thesis says it does or does not."""
    return _agrees(op, SCRATCHPAD, expected)


def _agrees(op: str, column: str, expected: bool) -> Check:
    def check(f: Findings) -> Answer:
        rate = f[op, "seeds", "success"]
        ours = f[op, column, "learnt"].value
        # Where only some seeds learn it, others might have given the opposite.
        weak = 0 < rate.solved < rate.n
        return Answer(
            ours == expected, weak, float(expected), ours, detail=f"{rate.solved} of {rate.n} seeds"
        )

    return check


def no_more_than(rows: Iterable[str], other: str) -> Check:
    """No row learns more expressions than another."""
    return lambda f: all((f[r, ALL, CORRECT].value or 0) <= (f[other, ALL, CORRECT].value or 0) for r in rows)


def draw(measured: Measured, figure: Figure) -> None:
    """The share of seeds that learn each expression, one row per model."""
    runs: Mapping[str, Mapping[str, Sequence[Run]]] = measured.data or {}
    (axis,) = row_of_panels(figure, 1, 9.5, 1.5 + 0.32 * max(1, len(runs)))
    ops = list(dict.fromkeys(op for by_op in runs.values() for op in by_op))
    shares = [[np.mean([run.solved for run in by_op[op]]) for op in ops] for by_op in runs.values()]
    if not shares:
        return
    axis.imshow(shares, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    axis.set_xticks(range(len(ops)), ops, rotation=45, ha="right")
    axis.set_yticks(range(len(runs)), list(runs))
    for k, line in enumerate(shares):
        for j, value in enumerate(line):
            if value > 0:
                colour = "white" if value > 0.6 else "black"
                axis.text(j, k, f"{100 * value:.0f}", ha="center", va="center", color=colour, fontsize=8)
    axis.set_title("Seeds that learn the expression, %")
