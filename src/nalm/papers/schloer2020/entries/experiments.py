"""The experiments of the iNALU's authors (thesis, appendix D.1): Schlör, Ring, Hotho 2020."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from nalm.evaluate.intervals import Interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Check, Claim, Findings, Key, none, not_full, total
from nalm.papers.entry import Measured, Records, TrainedStudy
from nalm.papers.metrics import Metric, Runs
from nalm.papers.scale import Scale
from nalm.papers.schloer2020.programs import runs
from nalm.papers.schloer2020.programs.layers import KINDS
from nalm.papers.schloer2020.programs.tasks import FUNCTIONS, MINIMAL, SIMPLE_FUNCTION, FourOperations
from nalm.papers.schloer2020.programs.training import EpochPlan
from nalm.papers.shared.findings import share
from nalm.tasks import Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WHOLE = EpochPlan()
_SEEDS, _QUICK_SEEDS = 10, 2
_QUICK_EPOCHS = 0.2
_THRESHOLD = 1e-5
"""A run succeeds if its mean squared error after the last epoch is below this."""


def _of_programs(judged: Runs) -> Interval:
    raise NotImplementedError("this metric is measured by the entry's own program, not from runs")


_METRICS = (
    Metric("interpolation success", "interpolation", True, _of_programs),
    Metric("success", "", True, _of_programs),
)
_SETS = {"interpolation success": Split.VALIDATION, "success": Split.TEST}


def _budget(scale: Scale) -> Budget:
    return Budget(scale, _SEEDS, _QUICK_SEEDS, _QUICK_EPOCHS)


def cases(experiment: str, scale: Scale) -> dict[tuple[str, str], Case]:
    """Every kind of layer on every task of "minimal" or "simple function", by row and column."""
    epochs = _budget(scale).steps(_WHOLE.epochs)
    made = {}
    for kind in chosen_rows(scale, (kind.name for kind in KINDS)):
        for name in FUNCTIONS:
            for place in range(len(runs.EXPERIMENTS[experiment].distributions)):
                task = runs.OneOperation(experiment, name, place)
                made[kind, f"{name} {task.distribution}"] = runs.case(kind, task, epochs, _WHOLE.samples)
    return made


def plan(entry: str, experiment: str, scale: Scale) -> list[Experiment]:
    """Every kind of layer on every task, trained for every seed."""
    return [Experiment(entry, tuple(cases(experiment, scale).values()), _budget(scale).seeds)]


def compute(experiment: str, scale: Scale, records: Records) -> Measured:
    """Count the seeds that succeed on both sets."""
    found: dict[Key, Finding] = {}
    for (row, column), case in cases(experiment, scale).items():
        for metric, split in _SETS.items():
            found[row, column, metric] = share(
                [bool(getattr(record, split)[-1] < _THRESHOLD) for record in records[case]]
            )
    budget = _budget(scale)
    return Measured(Findings(found), budget.fewer_seeds() + budget.fewer_steps(_WHOLE.epochs, "epochs"))


def _columns(task: FourOperations, *operations: str) -> list[str]:
    return [f"{name} {found.label}" for name in operations for found in task.distributions]


def _uneven(row: str, columns: list[str]) -> Check:
    """A row succeeds in some of these columns and not in others."""
    return lambda f: 0 < total(f, row, columns) < len(columns)


def _draw(measured: Measured, figure: Figure) -> None:
    """Success as colours: one panel per set, kinds of layers by columns."""
    found = measured.findings
    rows = list(dict.fromkeys(row for row, _, _ in found))
    columns = list(dict.fromkeys(column for _, column, _ in found))
    figure.set_size_inches(3.2 + 0.42 * len(columns), 2.9 + 0.6 * len(rows))
    axes = figure.subplots(2, 1, sharex=True)
    for axis, (metric, title) in zip(axes, zip(_SETS, ("Interpolation", "Extrapolation"))):
        values = [[found[row, column, metric].value for column in columns] for row in rows]
        image = axis.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto")
        for k, line in enumerate(values):
            for j, value in enumerate(line):
                shade = "black" if (value or 0) > 0.6 else "white"
                axis.text(j, k, f"{value:.1f}", ha="center", va="center", color=shade, fontsize=7)
        axis.set_title(title)
        axis.set_yticks(range(len(rows)), rows)
    axes[-1].set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    figure.colorbar(image, ax=axes, label="Success rate")


_MATRIX, _VECTOR, _SHARED, _OWN = (kind.name for kind in KINDS)
_SOURCE = "Schlör, Ring, Hotho 2020, section 4.{}; thesis, appendix D.1"


def _claims(task: FourOperations) -> Iterator[Claim]:
    """What the thesis says of these experiments in appendices D.1 and D.2, and in section 2.3.4."""
    division = _columns(task, "div")
    for row in (_SHARED, _OWN):
        yield Claim(row, "generally outperforms the NALU (D.2)", _outperforms(row, _MATRIX))
        yield Claim(row, "is not stable in division (2.3.4)", not_full(row, division))


def _outperforms(row: str, other: str) -> Check:
    """More success over all columns together; in single columns it may be less."""
    return lambda f: total(f, row) > total(f, other)


_SCALE_OF_5 = "mul exponential 0.2->0.5"

ENTRIES = (
    TrainedStudy(
        "schloer2020:exp1",
        "Minimal arithmetic task: two inputs, one layer, seven distributions",
        _SOURCE.format(1),
        partial(compute, "minimal"),
        partial(plan, "schloer2020:exp1", "minimal"),
        metrics=_METRICS,
        main=len(_METRICS),
        claims=(
            *_claims(MINIMAL),
            *(
                Claim(row, "fails to multiply inputs of exponential 0.2 (D.1)", none(row, [_SCALE_OF_5]))
                for row in (_SHARED, _OWN)
            ),
            Claim(
                _OWN,
                "succeeds in multiplication by the range of the inputs (D.2)",
                _uneven(_OWN, _columns(MINIMAL, "mul")),
            ),
        ),
        draw=_draw,
        note="The exponential distributions have the scales 0.2 and 0.8, as in the authors' program; the "
        "thesis takes 0.2 for the rate, which would be a scale of 5. Both NALUs are the same model here: "
        "with one output there is one gate.",
    ),
    TrainedStudy(
        "schloer2020:exp4",
        "Simple function task: 100 inputs, two layers, two distributions",
        _SOURCE.format(4),
        partial(compute, "simple function"),
        partial(plan, "schloer2020:exp4", "simple function"),
        metrics=_METRICS,
        main=len(_METRICS),
        claims=tuple(_claims(SIMPLE_FUNCTION)),
        draw=_draw,
        note="Where a layer has several outputs, the authors' program takes the weights of the sign in "
        "another order than those of the product; here both belong to the same inputs, as in the paper.",
    ),
)
