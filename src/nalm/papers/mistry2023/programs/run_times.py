"""How long one run takes (thesis, appendix E.1.2 and table E.6), ours beside the thesis's.

Runs of all nine ranges are trained side by side, as the benchmark does, here with five seeds. Two short
trainings are timed, and the difference is extrapolated to the steps of the protocol: compilation, which is
done once, is not in it, evaluation every 1,000 steps is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.tasks import RANGE_SETS, ArithmeticDataset, RangeTask, SingleModule
from nalm.training.trainers import train_runs

Clock = Callable[[], float]


@dataclass(frozen=True)
class Timed:
    """What is timed.

    Attributes:
        model: the model.
        tasks: the tasks of an experiment, all trained at once.
        seeds: the number of seeds of each task.
        short: the steps of the shorter training; the longer one has `part` more.
        part: the steps that the extrapolation is made from.
    """

    model: str
    tasks: tuple[RangeTask, ...]
    seeds: int = 5
    short: int = 1000
    part: int = 1000

    def seconds(self, clock: Clock = time.perf_counter, repeats: int = 3) -> list[float]:
        """Seconds per run of the whole protocol, extrapolated, once per repeat."""
        cases = [Case(ModelSpec.parse(self.model), task) for task in self.tasks]
        runs = [(case, seed) for case in cases for seed in range(self.seeds)]
        whole = cases[0].recipe.iterations

        def spent(steps: int) -> float:
            begun = clock()
            train_runs(
                cases[0].build(),
                [case.task for case, _ in runs],
                [case.recipe for case, _ in runs],
                [seed for _, seed in runs],
                iterations=steps,
            )
            return clock() - begun

        spent(1)  # compiles
        pairs = [(spent(self.short), spent(self.short + self.part)) for _ in range(repeats)]
        return [(long - short) / self.part * whole / len(runs) for short, long in pairs]


def _divisions(inputs: int) -> tuple[RangeTask, ...]:
    return tuple(SingleModule("div", name, inputs) for name in RANGE_SETS["uniform"])


def _single(op: str) -> tuple[RangeTask, ...]:
    return tuple(SingleModule(op, name) for name in RANGE_SETS["uniform"])


_UNITS = {"Real NPU": "realnpu@modified", "NRU": "nru", "NMRU": "nmru(exact_evaluation=true)"}
DIVISION: dict[tuple[str, str], Timed] = {
    (row, column): Timed(model, _divisions(inputs))
    for column, inputs in (("no redundancy (size 2)", 2), ("with redundancy (size 10)", 10))
    for row, model in _UNITS.items()
}
"""Table E.6."""
_SINGLE = {"NAC+": ("nac", "add"), "NAC•": ("nac-mul", "mul"), "NALU": ("nalu", "mul"),
           "G-NALU": ("gnalu", "mul"), "iNALU": ("inalu", "mul"), "NAU": ("nau", "add"),
           "NMU": ("nmu", "mul"), "NPU": ("npu", "mul"), "Real NPU": ("realnpu", "mul"),
           "sNMU": ("snmu", "mul")}  # fmt: skip
BENCHMARK: dict[tuple[str, str], Timed] = {
    **{(row, "single module task"): Timed(model, _single(op)) for row, (model, op) in _SINGLE.items()},
    **{
        (row, "arithmetic dataset task"): Timed(model, (ArithmeticDataset("mul"),), seeds=16)
        for row, model in (("NAU-NMU", "nau+nmu"),)
    },
}
"""Appendix E.1.2: every model of the single module task, and the stack of the arithmetic dataset."""


def computing(timed: Mapping[tuple[str, str], Timed]) -> Callable[[Scale], Measured]:
    """A program that times all of these."""

    def compute(scale: Scale) -> Measured:
        found: dict[Key, Finding] = {}
        for (row, column), each in timed.items():
            found[row, column, "seconds per run"] = spread(each.seconds())
        return Measured(Findings(found))

    return compute


def spread(seconds: Sequence[float]) -> Finding:
    """The median of repeated timings, with the least and the largest as its interval."""
    return Finding(statistics.median(seconds), min(seconds), max(seconds), len(seconds))
