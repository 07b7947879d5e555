"""Thesis, table 3.1: the "large scale arithmetic" task as three papers set it up, the same units in each.

Madsen & Johansen 2020, Heim et al. 2020 and Schlör et al. 2020 differ in hidden size, steps, seeds, rate,
subsets, ranges, and in what division is: a / b, or 1 / a with Heim et al. What the table does not list, such
as optimiser and initial weights, is that of the units' own recipes.

Deviations: test ranges of Heim et al. are those of their program, (-2,2) and (-0.5,0), where the table has
(-4,4) and (-0.5,0.5). The table's test range U[-5,-5] of Schlör et al. is a misprint; it is U(3,5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import nn

from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.large_scale import Sums
from nalm.recipes import Adam, Recipe
from nalm.recipes.steps import shorter
from nalm.tasks import Split
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs
from nalm.units import NALU, NAU, NMU, NPU, Unit

_INPUTS = 100
ROWS: dict[str, tuple[type[Unit], type[Unit]]] = {
    "NAU+NMU": (NAU, NMU),
    "NALU": (NALU, NALU),
    "NAU+NPU": (NAU, NPU),
}
"""The two layers of each row."""


@dataclass(frozen=True)
class Setup:
    """How a paper sets the task up.

    Attributes:
        tasks: the data by the name of the column.
        hidden: values between the layers.
        steps: training steps.
        seeds: how many runs.
        rate: the learning rate.
        quick: part of the steps in the quick protocol.
    """

    tasks: Mapping[str, Sums]
    hidden: int
    steps: int
    seeds: int
    rate: float
    quick: float

    def columns(self, row: str) -> dict[str, Sums]:
        """Those that a row can express."""
        last = ROWS[row][-1]
        return {name: task for name, task in self.tasks.items() if _NEEDED[task.op] in last.ops}

    def recipe(self, row: str, task: Sums) -> Recipe:
        """That of the last unit, with the steps and the rate of the set-up."""
        last = ROWS[row][-1]
        known = "arithmetic" if "arithmetic" in last.recipes else "published"
        published = last.recipe(_NEEDED[task.op], known, inputs=_INPUTS)
        own = shorter(published, self.steps / published.iterations)
        return replace(own, optimiser=Adam(self.rate), iterations=self.steps)


_NEEDED = {"mul": "mul", "div": "div", "recip": "reciprocal"}
"""What the last unit must express."""


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


def compute(scale: Scale) -> Measured:
    """Train every row in every set-up."""
    found: dict[Key, Finding] = {}
    reduced: list[str] = []
    for setup in SETUPS:
        budget = Budget(scale, setup.seeds, quick_seeds=3, quick_steps=setup.quick)
        paper = next(iter(setup.tasks)).partition(",")[0]
        reduced += [f"{paper}: {words}" for words in budget.reduced()]
        for row in chosen_rows(scale, ROWS):
            found |= _measures(row, setup, budget)
    return Measured(Findings(found), reduced)


def _measures(row: str, setup: Setup, budget: Budget) -> dict[Key, Finding]:
    result, seeds = _train(row, setup, budget), budget.seeds
    found: dict[Key, Finding] = {}
    for k, (column, task) in enumerate(setup.columns(row).items()):
        errors = result.chosen_error(Split.TEST)[k * seeds : (k + 1) * seeds].tolist()
        found[row, column, "success"] = share([error < task.threshold() for error in errors])
        found[row, column, "test error"] = median(errors)
    return found


def _train(row: str, setup: Setup, budget: Budget) -> TrainResult:
    """All operations in one program: all seeds of the first, of the second."""
    tasks = [task for task in setup.columns(row).values() for _ in range(budget.seeds)]
    recipes = [shorter(setup.recipe(row, task), budget.factor) for task in tasks]
    first, last = ROWS[row]
    model = nn.Sequential(first(_INPUTS, setup.hidden), last(setup.hidden, 1))
    return train_runs(model, tasks, recipes, list(range(budget.seeds)) * len(setup.columns(row)))
