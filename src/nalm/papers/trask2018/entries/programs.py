"""Trask et al. 2018, section 4.4, appendix E: program evaluation with larger numbers, figures 4 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, FewerRuns, chosen_rows, fewer
from nalm.papers.claims import Answer, Check, Claim, Findings, Key
from nalm.papers.entry import Measured, Records, TrainedStudy
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import measure
from nalm.tasks import Programs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS = 10
MATCHING = "matching digits"
_NALU, _NAU = "NALU", "NAU, clamped"
_ROWS = {_NALU: "configured-nalu", _NAU: "configured-nau", "UGRNN": "ugrnn", "LSTM": "lstm", "DNC": "dnc"}
_BASELINES = ("UGRNN", "LSTM", "DNC")
_MANY, _HALF = 90.0, 50.0
"""Per cent of digits: a model that gets as many right has learnt the task, one that gets fewer has not."""

NOTE = (
    "The paper has neither the programs, sizes, optimiser nor steps, and its figures have no numbers. Ours: "
    "sums of two integers; programs 'if b < c : a else : d ± e', one symbol or integer per step; states of "
    "32 values; Adam with the rate 0.01, batches of 128, 100,000 steps. The NALU has four values of state; "
    "its matrices are linear functions of the state of an LSTM that sees the symbols and the squashed state "
    "of the NALU, and it adds 1 to magnitudes before their logarithm, because zeros would overflow. Digits "
    "are compared place by place, from the units up. The mean over seeds, with two standard deviations, as "
    "in the paper. The row 'NAU, clamped' is ours: a NAU in place of the NALU, whose computed weights are "
    "clamped to [-1, 1]; what the LSTM sees of its state has the slope of a tanh that is 50 times wider."
)


def column_of(digits: int) -> str:
    """The column of a number of digits."""
    return f"{digits} digits"


@dataclass(frozen=True)
class ProgramFigure:
    """Models on one kind of program.

    Attributes:
        entry: the name of the entry.
        op: the kind of program.
    """

    entry: str
    op: str

    def cases(self, scale: Scale) -> dict[str, Case]:
        """What is trained for each row."""
        full = Programs(self.op)
        task = full.reduced() if scale.quick and scale.steps is None else full
        wanted = chosen_rows(scale, _ROWS)
        plain = {row: Case(ModelSpec.parse(_ROWS[row]), task, schedule="scaled") for row in wanted}
        if scale.steps is None:
            return plain
        part = scale.steps
        return {
            row: replace(case, iterations=max(1, round(part * case.recipe.iterations)))
            for row, case in plain.items()
        }

    def plan(self, scale: Scale) -> list[Experiment]:
        """Every row, all seeds."""
        seeds = Budget(scale, SEEDS, SEEDS).seeds
        return [Experiment(self.entry, tuple(self.cases(scale).values()), seeds)]

    def compute(self, scale: Scale, records: Records) -> Measured:
        """The share of matching digits by the number of digits, at the step that validation chooses."""
        cases = self.cases(scale)
        held = {row: runs for row, case in cases.items() if (runs := records.get(case))}
        found = {key: each for row, runs in held.items() for key, each in _shares(row, runs).items()}
        steps, full = (next(iter(self.cases(s).values())).recipe.iterations for s in (scale, Scale()))
        words = (
            "the learning rate falls to zero in their second half"
            if scale.quick and scale.steps is None
            else "nothing else changed"
        )
        notes = [
            *map(FewerRuns, fewer("seeds", min(map(len, held.values()), default=0), SEEDS)),
            *([f"steps: {steps} instead of {full}, {words}"] if steps < full else []),
            *map(FewerRuns, fewer("cells", len(held), len(cases))),
        ]
        count = sum(map(len, held.values()))
        return Measured(Findings(found), notes, partial=len(held) < len(cases), runs=count)


def _shares(row: str, runs: Sequence[Record]) -> dict[Key, Finding]:
    found: dict[Key, Finding] = {}
    for facet in Programs().facets():
        right = [100 * (1 - float(np.asarray(run.errors[facet.curve])[run.chosen])) for run in runs]
        column = column_of(int(facet.labels["digits"]))
        found[row, column, MATCHING] = two_sigma(right)
    return found


def two_sigma(values: Sequence[float]) -> Finding:
    """The mean, and two standard deviations to both sides, as the paper draws it; no band for one value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Finding(mean, None, None, len(values))
    band = 2 * float(np.std(values, ddof=1))
    return Finding(mean, mean - band, mean + band, len(values))


def _share(f: Findings, row: str, digits: int) -> float:
    found = f.get((row, column_of(digits), MATCHING))
    return 0.0 if found is None or found.value is None else found.value


def _above(row: str, digits: Sequence[int], least: float) -> Check:
    def check(f: Findings) -> Answer:
        shares = [_share(f, row, count) for count in digits]
        return Answer(min(shares) >= least, detail=", ".join(f"{share:.3g} %" for share in shares))

    return check


def _below(row: str, digits: Sequence[int], most: float) -> Check:
    def check(f: Findings) -> Answer:
        shares = [_share(f, row, count) for count in digits]
        return Answer(max(shares) < most, detail=", ".join(f"{share:.3g} %" for share in shares))

    return check


def _better(row: str, others: Sequence[str]) -> Check:
    """With three and with four digits, more digits match than with each other model."""

    def check(f: Findings) -> Answer:
        ours, theirs = ([_share(f, each, count) for count in (3, 4)] for each in (row, others[0]))
        holds = all(_share(f, row, n) > _share(f, other, n) for other in others for n in (3, 4))
        told = f"{ours[0]:.3g} and {ours[1]:.3g} % against {theirs[0]:.3g} and {theirs[1]:.3g} %"
        return Answer(holds, detail=told)

    return check


def _draw(measured: Measured, figure: Figure) -> None:
    """Matching digits by the number of digits, one line per model, with bands of two sigma."""
    (axis,) = row_of_panels(figure, 1, 5.5)
    for k, row in enumerate(_ROWS):
        columns = measured.findings.columns(row, MATCHING)
        found = {int(column.split()[0]): measured.findings[row, column, MATCHING] for column in columns}
        if not found:
            continue
        colour, values = COLOURS[k % len(COLOURS)], [each.value or 0.0 for each in found.values()]
        axis.plot([*found], values, label=row, color=colour, marker=MARKERS[k])
        low, high = ([getattr(each, end) for each in found.values()] for end in ("low", "high"))
        if None not in (*low, *high):
            axis.fill_between([*found], low, high, color=colour, alpha=0.12)
    axis.set(xlabel="digits of the integers", ylabel="matching digits, %", ylim=(0, 103), xticks=(2, 3, 4))
    figure.legend(loc="outside lower center", ncols=5, frameon=False)


def _claims(op: str) -> tuple[Claim, ...]:
    return (
        *(
            Claim(
                row,
                "solves the task on the integers that it was trained on",
                _above(row, (2,), _MANY),
                (row,),
            )
            for row in (_NALU, *_BASELINES)
        ),
        Claim(_NALU, "extrapolates to three and four digits", _above(_NALU, (3, 4), _MANY), (_NALU,)),
        *(
            Claim(row, "does not extrapolate to four digits", _below(row, (4,), _HALF), (row,))
            for row in _BASELINES
        ),
        Claim(_NALU, "is the only one to extrapolate", _better(_NALU, _BASELINES)),
        *(
            (Claim("UGRNN", "is much better than LSTM and DNC", _better("UGRNN", ("LSTM", "DNC"))),)
            if op == "sum"
            else ()
        ),
        Claim(
            _NAU,
            "ours: keeps at least 90 % of the digits with three and four",
            _above(_NAU, (3, 4), _MANY),
            (_NAU,),
        ),
    )


def _entry(place: str, op: str, title: str, source: str) -> TrainedStudy:
    figure = ProgramFigure(f"trask2018:{place}", op)
    return TrainedStudy(
        figure.entry,
        title,
        source,
        figure.compute,
        figure.plan,
        metrics=(measure(MATCHING, rising=True),),
        in_parts=True,
        draw=_draw,
        claims=_claims(op),
        note=NOTE,
    )


ENTRIES = (
    _entry("fig4", "program", "Programs with if, + and -, evaluated with larger numbers", "section 4.4"),
    _entry("fig6", "sum", "Sums of two integers, evaluated with larger numbers", "section 4.4, appendix E"),
)
