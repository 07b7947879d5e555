"""Heim et al. 2020, table 2: a layer of sums and a layer of products on 100 inputs.

NAU(100, 100) before the unit (100, 1), or two NALUs; all weights start from U(0, 0.1), imaginary ones at 0,
gates at 1. RMSProp, batches of 128 Sobol points, an L1 penalty that grows tenfold every 10,000 steps.
Reported is the median of 10 runs plus and minus the median absolute deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from torch import nn

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.heim2020.programs.units import ForwardClippedNMU
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median_deviation
from nalm.papers.shared.large_scale import Sums
from nalm.papers.shared.networks import drawn_by
from nalm.recipes import L1, Growth, Recipe, RMSProp
from nalm.recipes.initialisers import Constant, Initialiser, Uniform
from nalm.recipes.steps import shorter
from nalm.units import NALU, NAU, NPU, RealNPU, Unit

STEPS = 100_000


@dataclass(frozen=True)
class Column:
    """An operation of the table: its ranges, learning rate, and first and last strength of the penalty."""

    op: str
    range: str
    rate: float
    first: float
    last: float

    def task(self) -> Sums:
        """The task."""
        return Sums(self.op, self.range, "heim", sobol=True)

    def recipe(self) -> Recipe:
        """RMSProp and the growing penalty on all parameters; nothing is clamped."""
        return Recipe(
            penalties=(L1(1.0, Growth(self.first, self.last)),),
            optimiser=RMSProp(self.rate, decay=0.9),
            clamps=(),
            iterations=STEPS,
        )


COLUMNS = (
    Column("add", "-1:1=>-2:2", 1e-2, 1e-5, 1e-4),
    Column("mul", "-1:1=>-2:2", 5e-3, 1e-5, 1e-4),
    Column("recip", "0:0.5=>-0.5:0", 5e-3, 1e-9, 1e-7),
    Column("sqrt", "0:2=>0:4", 5e-3, 1e-6, 1e-4),
)


def _after_sums(last: Callable[..., Unit], inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(NAU(inputs, inputs, clamp=False), last(inputs, outputs))


def _twice(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(NALU(inputs, inputs), NALU(inputs, outputs))


ROWS: dict[str, Callable[[int, int], nn.Module]] = {
    "NPU": partial(_after_sums, partial(NPU, gate_gradient="straight-through")),
    "Real NPU": partial(_after_sums, partial(RealNPU, gate_gradient="straight-through")),
    "NALU": _twice,
    "NMU": partial(_after_sums, ForwardClippedNMU),
    "NaiveNPU": partial(_after_sums, partial(NPU, relevance=False)),
}


def _budget(scale: Scale) -> Budget:
    return Budget(scale, 10, quick_steps=0.02)


def cases(scale: Scale) -> dict[tuple[str, str], Case]:
    """Every stack on every operation, by row and column."""
    factor = _budget(scale).factor
    return {
        (row, column.op): Case(
            GivenModel(f"heim2020-table2:{row}", ROWS[row], initial),
            column.task(),
            other_recipe=shorter(column.recipe(), factor),
        )
        for row in chosen_rows(scale, ROWS)
        for column in COLUMNS
    }


def plan(scale: Scale) -> list[Experiment]:
    """Every stack on every operation, trained for every seed."""
    return [Experiment("heim2020:table2", tuple(cases(scale).values()), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """Test errors after the last step."""
    found: dict[Key, Finding] = {}
    for (row, column), case in cases(scale).items():
        errors = [float(record.test[-1]) for record in records[case]]
        found[row, column, "test error"] = median_deviation(errors)
    return Measured(Findings(found), _budget(scale).reduced())


def initial(model: nn.Module, seeds: Sequence[int]) -> Parameters:
    """Weights from U(0, 0.1), imaginary ones 0, gates of the power units 1."""
    schemes: dict[str, Initialiser] = {name: Uniform(0.0, 0.1) for name, _ in model.named_parameters()}
    for path, unit in model.named_modules():
        if isinstance(unit, RealNPU):
            schemes |= {f"{path}.gate": Constant(1.0), f"{path}.imaginary": Constant(0.0)}
    return drawn_by(model, schemes, seeds)
