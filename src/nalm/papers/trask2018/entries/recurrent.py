"""Trask et al. 2018, section 4.1 and appendix B: sums over time of parts of the inputs, then an operation.

Table 1 has the static tasks next to the recurrent ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nalm.evaluate.intervals import median_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Check, Claim, Findings, Key, both
from nalm.papers.entry import Entry, Measured, Records, Runner, TrainedStudy
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import measure
from nalm.papers.shared.series import table
from nalm.papers.trask2018.entries import static
from nalm.papers.trask2018.entries.static import EXTRAPOLATION, INTERPOLATION, fails, solves, value_of
from nalm.papers.trask2018.programs import recurrent, recurrent_runs
from nalm.papers.trask2018.programs.relative import Relative

NOTE = (
    "The paper states neither the distribution of the inputs, nor steps, optimiser and seeds. Ours: inputs "
    "from U[0,1), parts of two inputs that share one; states of two values for all models; Adam with the "
    "rate 0.01, gradients clipped to the norm 1, batches of 32 sequences, 10,000 steps, 10 seeds; the median "
    "over seeds, relative to the median of LSTMs that were not trained. By the row Random of table 8, the "
    "paper's targets have one size for all functions, and grow a hundredfold from 10 to 1000 steps; those of "
    "its formulas, which are used here, do not."
)
BASELINES = ("LSTM", "GRU", "RNN-tanh", "RNN-ReLU")
UNITS = ("NAC", "NALU")
SUMS = ("a", "a + b", "a - b")
IN, OUT = INTERPOLATION.name, EXTRAPOLATION.name
FITTED = 5.0
"""A function counts as interpolated below this error, in per cent of that of an untrained model."""


TRAINING = measure("training error", "training")


def _budget(scale: Scale) -> Budget:
    return Budget(scale, recurrent.SEEDS, quick_seeds=3, quick_steps=0.05)


def _cases(scale: Scale, name: str) -> list[Case]:
    """A kind of model on every target."""
    steps = _budget(scale).steps(recurrent.STEPS)
    return [recurrent_runs.case(name, target, steps) for target in recurrent.TARGETS]


def _plan(entry: str, scale: Scale, names: Iterable[str] | None = None) -> list[Experiment]:
    """Every model on every target; by default all models that the scale asks for."""
    wanted = chosen_rows(scale, recurrent.KINDS) if names is None else names
    cases = tuple(case for name in wanted for case in _cases(scale, name))
    return [Experiment(entry, cases, _budget(scale).seeds)] if cases else []


def _measured(
    unit: float, scale: Scale, records: Records, names: Iterable[str] | None = None, suffix: str = ""
) -> Measured:
    """Errors of every model on every target, scaled so that the error of an untrained LSTM is `unit`.

    Args:
        unit: 1 or 100.
        scale: how much of the protocol to run.
        records: the stored runs.
        names: the models, by default those that the scale asks for.
        suffix: added to their names.
    """
    budget = _budget(scale)
    base = recurrent.untrained_errors(budget.seeds)
    found: dict[Key, Finding] = {}
    for name in chosen_rows(scale, recurrent.KINDS) if names is None else names:
        ours = recurrent_runs.trained_errors([records[case] for case in _cases(scale, name)])
        parts = (
            (TRAINING, ours.training, base.training),
            (INTERPOLATION, ours.interpolation, base.interpolation),
            (EXTRAPOLATION, ours.extrapolation, base.extrapolation),
        )
        for k, column in enumerate(recurrent.TARGETS):
            for metric, errors, untrained in parts:
                relative = median_interval(unit * errors[k] / float(np.median(untrained[k])))
                finding = Finding(relative.value, relative.low, relative.high, budget.seeds)
                found[name + suffix, column, metric.name] = finding
    reduced = budget.fewer_seeds("models") + budget.fewer_steps(recurrent.STEPS)
    return Measured(Findings(found), reduced)


@dataclass(frozen=True)
class Both(Entry):
    """Table 1: the static tasks from a grid, the recurrent ones from their program.

    Attributes:
        left: the static half.
    """

    left: Relative

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Both halves, side by side."""
        chosen_rows(scale, [*(s.label for s in _STATIC), *_RECURRENT])
        left = self.left.measure(_left(scale), run)
        records = {case: each for e in self._right(scale) for case, each in run.records(e).items()}
        right = _measured(self.left.unit, scale, records, _right_names(scale), _SUFFIX)
        kept = {
            cell: finding
            for cell, finding in right.findings.items()
            if cell[1] in static.COLUMNS and cell[2] != TRAINING.name
        }
        reduced = list(dict.fromkeys([*left.reduced, *right.reduced]))
        return Measured(Findings({**left.findings, **kept}), reduced)

    def experiments(self, scale: Scale) -> list[Experiment]:
        """The experiments of both halves."""
        return [*self.left.experiments(_left(scale)), *self._right(scale)]

    def _right(self, scale: Scale) -> list[Experiment]:
        return _plan(self.id, scale, _right_names(scale))


def _right_names(scale: Scale) -> list[str]:
    """The recurrent models of the rows that the scale asks for."""
    return [name for row, name in _RECURRENT.items() if scale.rows is None or row in scale.rows]


def _left(scale: Scale) -> Scale:
    """The same scale for the static half alone."""
    if scale.rows is None:
        return scale
    return replace(scale, rows=tuple(row for row in scale.rows if row not in _RECURRENT))


_SUFFIX = " (recurrent)"
_STATIC = tuple(
    replace(series, label=f"{series.label} (static)")
    for series in static.SERIES
    if series.label in ("Relu6", "None", "NAC", "NALU")
)
_RECURRENT = {name + _SUFFIX: name for name in ("LSTM", "RNN-ReLU", "NAC", "NALU")}
_NAC, _NALU = ("NAC (static)", "NAC (recurrent)"), ("NALU (static)", "NALU (recurrent)")


def _interpolates(rows: Iterable[str], columns: Iterable[str]) -> Check:
    listed = tuple(columns)
    return both(*(solves(row, listed, IN, FITTED) for row in rows))


def _outperforms(row: str, column: str) -> Check:
    """The error on long sequences is below that of every baseline."""
    return lambda f: all(value_of(f, row, column, OUT) < value_of(f, o, column, OUT) for o in BASELINES)


def _fails_somewhere(row: str) -> Check:
    return lambda f: any(value_of(f, row, c, OUT) >= static.SOLVED for c in static.COLUMNS)


def _fits_sums_best(row: str) -> Check:
    return lambda f: all(
        value_of(f, row, c, TRAINING.name) <= value_of(f, o, c, TRAINING.name)
        for c in SUMS
        for o in BASELINES
    )


_DIVISION = "division: no model solves the task in a way that extrapolates"


def _division_fails(unit: float) -> Check:
    return both(*(fails(row, ["a / b"], OUT, static.SOLVED * unit / 100) for row in recurrent.KINDS))


ENTRIES = (
    Both(
        "trask2018:table1",
        "Static and recurrent tasks: error in per cent of that of an untrained model",
        "section 4.1",
        Relative(
            "trask2018:table1",
            "Static tasks",
            "section 4.1",
            static.SEEDS,
            table(_STATIC, static.TASKS),
            threshold=1e-5,
            metrics=(INTERPOLATION, EXTRAPOLATION),
            quick_seeds=3,
            quick_steps=0.1,
        ),
        metrics=(INTERPOLATION, EXTRAPOLATION),
        main=2,
        note=f"Static: {static.NOTE} Recurrent: {NOTE} {static.SAME_DATA}",
        same_data=static.is_solved,
        claims=(
            *(
                Claim(row, "a standard architecture does not succeed at extrapolation", _fails_somewhere(row))
                for row in ("Relu6 (static)", "None (static)", "LSTM (recurrent)", "RNN-ReLU (recurrent)")
            ),
            *(
                Claim(
                    row,
                    "succeeds at addition and subtraction, also beyond the range of training",
                    both(solves(row, static.SUMS, IN), solves(row, static.SUMS, OUT)),
                )
                for row in _NAC
            ),
            Claim(
                "NALU (static)",
                "succeeds at multiplicative operations as well",
                both(
                    solves("NALU (static)", static.PRODUCTS, IN),
                    solves("NALU (static)", static.PRODUCTS, OUT),
                ),
            ),
            Claim(
                "NALU (recurrent)",
                "succeeds at multiplicative operations but division",
                solves("NALU (recurrent)", [c for c in static.PRODUCTS if c != "a / b"], OUT),
            ),
            Claim(
                "NALU (recurrent)", "does not succeed at division", fails("NALU (recurrent)", ["a / b"], OUT)
            ),
        ),
    ),
    TrainedStudy(
        "trask2018:table8",
        "Recurrent tasks: error over that of an untrained LSTM",
        "section 4.1, appendix B",
        partial(_measured, 1.0),
        partial(_plan, "trask2018:table8"),
        metrics=(TRAINING, INTERPOLATION, EXTRAPOLATION),
        main=3,
        note="Raw errors depend on the distribution of the inputs, which the paper does not state: shown are "
        "its rows divided by its rows Random, the training error by that on short sequences; what can be "
        "compared is in table 9. " + NOTE,
        same_data=static.is_claim,
        claims=(
            *(
                Claim(row, "trains to a lower error on sums than every baseline", _fits_sums_best(row))
                for row in UNITS
            ),
            Claim("all", _DIVISION, _division_fails(1.0)),
        ),
    ),
    TrainedStudy(
        "trask2018:table9",
        "Recurrent tasks: error in per cent of that of an untrained LSTM",
        "section 4.1, appendix B",
        partial(_measured, 100.0),
        partial(_plan, "trask2018:table9"),
        metrics=(INTERPOLATION, EXTRAPOLATION),
        main=2,
        note=f"{NOTE} {static.SAME_DATA}",
        same_data=static.is_solved,
        claims=(
            Claim(
                "all", "all models learn to interpolate", _interpolates(recurrent.KINDS, recurrent.TARGETS)
            ),
            *(
                Claim(row, f"outperforms the baselines on long sequences: {c}", _outperforms(row, c))
                for row in UNITS
                for c in SUMS
            ),
            *(
                Claim("NALU", f"outperforms the baselines on long sequences: {c}", _outperforms("NALU", c))
                for c in ("a × b", "a²", "√a")
            ),
            Claim("all", _DIVISION, _division_fails(100.0)),
            Claim(
                "NAC, NALU",
                "underestimate the denominator: their error on division is above that of an untrained model",
                lambda f: all(value_of(f, row, "a / b", OUT) > 100 for row in UNITS),
            ),
        ),
    ),
)
