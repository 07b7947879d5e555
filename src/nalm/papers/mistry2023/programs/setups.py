"""Thesis, table 3.1: the "large scale arithmetic" task as three papers set it up, with the same units.

Madsen & Johansen 2020, Heim et al. 2020 and Schlör et al. 2020 differ in hidden size, steps, seeds, learning
rate, subsets, ranges, and in the meaning of division: a / b, but 1 / a for Heim et al. What the table does
not list, such as optimiser and initial weights, comes from the units' own recipes.

Deviations: test ranges of Heim et al. are those of their program, (-2,2) and (-0.5,0), where the table has
(-4,4) and (-0.5,0.5). The table's test range U[-5,-5] of Schlör et al. is a misprint; it is U(3,5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.large_scale import Sums
from nalm.recipes import Adam, Recipe
from nalm.recipes.steps import shorter
from nalm.units import UNITS, Unit

_INPUTS = 100
ROWS = {"NAU+NMU": "nau+nmu", "NALU": "nalu+nalu", "NAU+NPU": "nau+npu"}
"""The two layers of each row."""


@dataclass(frozen=True)
class Setup:
    """How a paper sets the task up.

    Attributes:
        tasks: the tasks by the name of their column.
        hidden: number of values between the layers.
        steps: number of training steps.
        seeds: number of runs.
        rate: the learning rate.
        quick: fraction of the steps in the quick protocol.
    """

    tasks: Mapping[str, Sums]
    hidden: int
    steps: int
    seeds: int
    rate: float
    quick: float

    def columns(self, row: str) -> dict[str, Sums]:
        """The tasks that a row can express, by the name of their column."""
        last = _last_unit(row)
        return {name: task for name, task in self.tasks.items() if _NEEDED[task.op] in last.ops}

    def recipe(self, row: str, task: Sums) -> Recipe:
        """The recipe of the last unit, with the steps and learning rate of the set-up."""
        last = _last_unit(row)
        known = "arithmetic" if "arithmetic" in last.recipes else "published"
        published = last.recipe(_NEEDED[task.op], known, inputs=_INPUTS)
        own = shorter(published, self.steps / published.iterations)
        return replace(own, optimiser=Adam(self.rate), iterations=self.steps)

    def budget(self, scale: Scale) -> Budget:
        """Seeds and steps at a scale."""
        return Budget(scale, self.seeds, quick_seeds=3, quick_steps=self.quick)

    def cases(self, scale: Scale) -> dict[tuple[str, str], Case]:
        """Every row on every operation that it can express, by row and column."""
        factor = self.budget(scale).factor
        return {
            (row, column): Case(
                ModelSpec.parse(ROWS[row]),
                task,
                other_recipe=shorter(self.recipe(row, task), factor),
                hidden=self.hidden,
            )
            for row in chosen_rows(scale, ROWS)
            for column, task in self.columns(row).items()
        }


def _last_unit(row: str) -> type[Unit]:
    return UNITS[ROWS[row].rpartition("+")[2]]


_NEEDED = {"mul": "mul", "div": "div", "recip": "reciprocal"}
"""The operation that the last unit must express."""


def _both(label: str, range: str, subsets: str) -> dict[str, Sums]:
    return {f"{label}, {words}": Sums(op, range, subsets) for op, words in (("mul", "a b"), ("div", "a/b"))}


_HEIM = {
    "Heim, a b": Sums("mul", "-1:1=>-2:2", "heim", sobol=True),
    "Heim, 1/a": Sums("recip", "0:0.5=>-0.5:0", "heim", sobol=True),
}
SETUPS = (
    Setup(_both("Madsen", "1:2=>2:6", "madsen"), 2, 5_000_000, 100, 1e-3, quick=0.001),
    Setup(_HEIM, 100, 50_000, 10, 5e-3, quick=0.02),
    Setup(_both("Schlör U", "-3:3=>3:5", "schloer"), 2, 100_000, 10, 1e-3, quick=0.05),
    Setup(
        _both("Schlör TN", "tn(0;1;-3:3)=>tn(3.5;0.1666667;3:4)", "schloer"), 2, 100_000, 10, 1e-3, quick=0.05
    ),
)


def plan(scale: Scale) -> list[Experiment]:
    """Every row in every set-up, each with its own number of seeds."""
    return [
        Experiment("mistry2023:table3.1", tuple(setup.cases(scale).values()), setup.budget(scale).seeds)
        for setup in SETUPS
    ]


def compute(scale: Scale, records: Records) -> Measured:
    """Success and errors of every row in every set-up."""
    found: dict[Key, Finding] = {}
    reduced: list[str] = []
    for setup in SETUPS:
        paper = next(iter(setup.tasks)).partition(",")[0]
        reduced += [type(words)(f"{paper}: {words}") for words in setup.budget(scale).reduced()]
        for (row, column), case in setup.cases(scale).items():
            errors = [float(record.test[record.chosen]) for record in records[case]]
            limit = setup.tasks[column].threshold()
            found[row, column, "success"] = share([error < limit for error in errors])
            found[row, column, "test error"] = median(errors)
    return Measured(Findings(found), reduced)
