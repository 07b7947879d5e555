r"""Which operation a gate has chosen (Madsen & Johansen 2020, appendix C.5, figure 9).

The gate of the second layer is :math:`\\sigma(G z)` of the first layer's output z: near 1 it adds, near 0 it
multiplies. It is averaged here over samples of the training range, with the parameters of the chosen step.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torch

from nalm.evaluate.intervals import success_interval
from nalm.evaluate.judged import Judged
from nalm.experiment.run import Case
from nalm.papers.agreement import CHANCE, Finding, exact_test, many_would_differ
from nalm.papers.claims import Answer, Check, Claim, Findings, Key, both
from nalm.papers.entry import Grid, Measured, Runner
from nalm.papers.metrics import SUCCESS, Metric
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import measure
from nalm.tasks import Split
from nalm.tasks.sampling import sample

SAMPLES = 1000
ADDS: Metric = measure("adds", "adds")
"""Share of seeds whose gate is above 1/2."""
UNDECIDED: Metric = measure("undecided", "undecided")
"""Share of seeds whose gate is between 0.1 and 0.9."""


@dataclass(frozen=True)
class Gates(Grid):
    """A grid of stacks that end in a gated unit, with measures of their gates."""

    def measure(self, scale: Scale, run: Runner) -> Measured:
        """Success rates, and which operation the gates have chosen."""
        (experiment,) = self.experiments(scale)
        judged = run(experiment, self.threshold, curves_only=False)
        found: dict[Key, Finding] = {}
        gates: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
        for place in self.trained_places(scale, judged):
            runs = [(case, each) for case in place.cases for each in judged[case]]
            values = [mean_gate(case, each) for case, each in runs]
            shares = {
                SUCCESS.name: [each.assessment.solved_at is not None for _, each in runs],
                ADDS.name: [value > 0.5 for value in values],
                UNDECIDED.name: [0.1 < value < 0.9 for value in values],
            }
            for metric, holds in shares.items():
                share = success_interval(sum(holds), len(holds))
                finding = Finding(share.value, share.low, share.high, len(holds))
                found[place.row, place.column, metric] = finding
            gates[place.row, place.column] = list(zip(values, shares[SUCCESS.name]))
        return self.measured(found, scale, judged, dict(gates))


def mean_gate(case: Case, run: Judged) -> float:
    """The gate of the second layer on samples of the training range."""
    model: Any = case.build()
    chosen = run.record.chosen_parameters
    model.load_state_dict({name: torch.tensor(value) for name, value in chosen.items()})
    x, _ = sample(case.task, run.record.seed, Split.VALIDATION, SAMPLES, dtype=torch.float32)
    with torch.no_grad():
        return float(torch.sigmoid(model[0](x) @ model[1].gate.T).mean())


def _random(row: str) -> Check:
    """A gate adds equally often where it should and where it should not."""

    def check(f: Findings) -> Answer:
        add, mul = f[row, "add", ADDS.name], f[row, "mul", ADDS.name]
        p, shares = exact_test(add.solved, add.n, mul.solved, mul.n), (add.value or 0, mul.value or 0)
        detail = f"adds {shares[0]:.2g} on addition, {shares[1]:.2g} on multiplication"
        return Answer(p >= CHANCE, p >= CHANCE and many_would_differ(*shares), p=p, detail=detail)

    return check


def _more_with_separate_weights(op: str) -> Check:
    """With separate weights a NALU's gate adds more often than with shared ones."""

    def check(f: Findings) -> Answer:
        a, b = f["NALU (separate)", op, ADDS.name], f["NALU (shared)", op, ADDS.name]
        p = exact_test(a.solved, a.n, b.solved, b.n)
        detail = f"{op}: {a.value or 0:.2g} against {b.value or 0:.2g}"
        return Answer((a.value or 0) > (b.value or 0), p >= CHANCE, p=p, detail=detail)

    return check


CLAIMS = (
    *(
        Claim(row, "the choice is mostly random, whatever the task", _random(row))
        for row in ("Gated NAU/NMU", "NALU (separate)", "NALU (shared)")
    ),
    Claim(
        "NALU (separate)",
        "chooses addition more often than with shared weights, on both tasks",
        both(*map(_more_with_separate_weights, ("add", "mul"))),
    ),
)


def draw(measured: Measured, figure: Any) -> None:
    """A histogram of gates per model and task, solved seeds drawn separately."""
    pairs = list(measured.data)
    rows = list(dict.fromkeys(row for row, _ in pairs))
    columns = list(dict.fromkeys(column for _, column in pairs))
    figure.set_size_inches(3.6 * len(rows), 2.6 * len(columns))
    axes = figure.subplots(len(columns), len(rows), squeeze=False, sharex=True, sharey=True)
    for k, column in enumerate(columns):
        for axis, row in zip(axes[k], rows):
            held = measured.data[row, column]
            parts = [[gate for gate, solved in held if solved is wanted] for wanted in (True, False)]
            bins = [n / 20 for n in range(21)]
            axis.hist(parts, bins=bins, stacked=True, color=("#009E73", "#D55E00"), label=("solved", "not"))
            axis.set_title(f"{row}, {column}", fontsize=9)
        axes[k][0].set_ylabel("seeds")
    for axis in axes[-1]:
        axis.set_xlabel("gate: 0 multiplies, 1 adds")
    axes[0][0].legend(frameon=False)
