"""The experiments of the iNALU's authors (thesis, appendix D.1): Schlör, Ring, Hotho 2020."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nalm.evaluate.intervals import Interval, success_interval
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows, fewer
from nalm.papers.claims import Check, Claim, Findings, Key, none, not_full, total
from nalm.papers.entry import Measured, Study
from nalm.papers.metrics import Metric, Runs
from nalm.papers.scale import Scale
from nalm.papers.schloer2020.programs.layers import KINDS, LayerKind
from nalm.papers.schloer2020.programs.tasks import FUNCTIONS, MINIMAL, SIMPLE_FUNCTION, FourOperations
from nalm.papers.schloer2020.programs.training import EpochPlan, errors, train
from nalm.streams import Purpose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEEDS, _QUICK_SEEDS = 10, 2
_QUICK_EPOCHS = 0.2
_THRESHOLD = 1e-5
"""A run succeeds if its mean squared error after the last epoch is below this."""


def _of_programs(runs: Runs) -> Interval:
    raise NotImplementedError("the program counts its own successes")


_METRICS = (
    Metric("interpolation success", "interpolation", True, _of_programs),
    Metric("success", "", True, _of_programs),
)
_SETS = {"interpolation success": Purpose.VALIDATION, "success": Purpose.TEST}


def measure(
    task: FourOperations, scale: Scale, *, compiled: bool = True, samples: int | None = None
) -> Measured:
    """Train every kind of layer on a task and count the seeds that succeed.

    Args:
        task: what is learned.
        scale: how many seeds, which part of the epochs and which kinds.
        compiled: compile, or run the same program eagerly.
        samples: in each set, if not as many as the authors have.
    """
    whole, budget = EpochPlan(), Budget(scale, _SEEDS, _QUICK_SEEDS, _QUICK_EPOCHS)
    plan = EpochPlan(budget.steps(whole.epochs), samples or whole.samples)
    rows = chosen_rows(scale, (kind.name for kind in KINDS))
    found: dict[Key, Finding] = {}
    for kind in KINDS:
        if kind.name in rows:
            found |= _counted(kind, task, budget.seeds, plan, compiled)
    reduced = budget.fewer_seeds() + budget.fewer_steps(whole.epochs, "epochs")
    return Measured(Findings(found), reduced + fewer("samples", plan.samples, whole.samples))


def _counted(
    kind: LayerKind, task: FourOperations, seeds: int, plan: EpochPlan, compiled: bool
) -> dict[Key, Finding]:
    """Success of one kind of layer in every column, on both sets."""
    data = task.data(Purpose.DATA, seeds, plan)
    variables = train(kind, task.sizes, data, plan, compiled=compiled, on_progress=_progress(kind.name))
    found: dict[Key, Finding] = {}
    for metric, purpose in _SETS.items():
        solved = errors(kind, variables, task.data(purpose, seeds, plan)) < _THRESHOLD
        counts = solved.unflatten(0, (len(task.distributions), seeds)).sum(1)
        for operation, name in enumerate(FUNCTIONS):
            for place, distribution in enumerate(task.distributions):
                rate = success_interval(int(counts[place, operation]), seeds)
                finding = Finding(rate.value, rate.low, rate.high, seeds)
                found[kind.name, f"{name} {distribution.label}", metric] = finding
    return found


def _progress(name: str) -> Callable[[int, int], None]:
    """Says now and then how far the training of a kind is."""
    begun = time.monotonic()

    def on_progress(epoch: int, epochs: int) -> None:
        if epoch % 10 == 0 or epoch == epochs:
            seconds = time.monotonic() - begun
            print(f"{name}: epoch {epoch} of {epochs}, {seconds:.0f} s", file=sys.stderr, flush=True)

    return on_progress


def _columns(task: FourOperations, *operations: str) -> list[str]:
    return [f"{name} {found.label}" for name in operations for found in task.distributions]


def _uneven(row: str, columns: list[str]) -> Check:
    """Some columns succeed and others do not."""
    return lambda f: 0 < total(f, row, columns) < len(columns)


def _draw(measured: Measured, figure: Figure) -> None:
    """Success as colours: one panel a set, kinds of layers by columns."""
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
    """More success over all columns; single columns may be the other way round."""
    return lambda f: total(f, row) > total(f, other)


_SCALE_OF_5 = "mul exponential 0.2->0.5"

ENTRIES = (
    Study(
        "schloer2020:exp1",
        "Minimal arithmetic task: two inputs, one layer, seven distributions",
        _SOURCE.format(1),
        lambda scale: measure(MINIMAL, scale),
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
    Study(
        "schloer2020:exp4",
        "Simple function task: 100 inputs, two layers, two distributions",
        _SOURCE.format(4),
        lambda scale: measure(SIMPLE_FUNCTION, scale),
        metrics=_METRICS,
        main=len(_METRICS),
        claims=tuple(_claims(SIMPLE_FUNCTION)),
        draw=_draw,
        note="Where a layer has several outputs, the authors' program takes the weights of the sign in "
        "another order than those of the product; here both belong to the same inputs, as in the paper.",
    ),
)
