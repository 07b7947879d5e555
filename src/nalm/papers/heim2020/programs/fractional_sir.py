"""Heim et al. 2020, section 4.1: the fractional SIR model, error against the number of parameters.

Networks of one hidden layer of 6 to 20 values give the rates of change and are trained by RMSProp through
Euler's method, with an L1 penalty of one of four strengths on all parameters, five times each. A parameter
counts if its magnitude is above 0.001. The error is that of the whole epidemic, integrated from its first
state.

Settings and published points are those of the authors' public program (`scripts/fracode`, `plots`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import nn

from nalm.discover.power_laws import PowerLaws
from nalm.discover.trajectory import Trajectory
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel, ModelSpec
from nalm.models.baselines import MLP
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.networks import drawn_by, final_model
from nalm.recipes import L1, Recipe, RMSProp
from nalm.recipes.initialisers import Constant, Initialiser, xavier_uniform
from nalm.tasks import Epidemic
from nalm.tasks.epidemic import simulate
from nalm.units import NAU, NPU, RealNPU

METRIC = "lowest MSE"
SOLVED = "Real NPU, second order"
"""The row of equations that `nalm.find_dynamics` finds; ours."""
COLUMNS = {"any size": 10**6, "at most 60 parameters": 60, "at most 25 parameters": 25}
WIDTHS, QUICK_WIDTHS = (6, 9, 12, 15, 20), (6, 12)
STRENGTHS = (0.0, 0.01, 0.1, 1.0)
STEPS, SEEDS, QUICK_SEEDS, TERMS = 3000, 5, 2, 4
_SUBSTEPS = 8
"""Runge-Kutta steps between two observed times, for equations: as many as they were fitted with."""
_COUNTS = 1e-3
"""A parameter with a smaller magnitude does not count."""
_ALWAYS = [
    "trained from each observed state to the next instead of over the whole epidemic",
    "RMSProp alone instead of RMSProp, then L-BFGS",
]


@dataclass(frozen=True)
class Point:
    """A network or equations: the number of parameters, and the error over the whole epidemic."""

    size: int
    error: float


def _power(kind: type[RealNPU], width: int, inputs: int, outputs: int) -> nn.Module:
    powers = kind(inputs, width, gate_gradient="straight-through")
    return nn.Sequential(powers, NAU(width, outputs, clamp=False))


def _dense(width: int, inputs: int, outputs: int) -> nn.Module:
    return MLP(inputs, outputs, hidden=(width, width), activation="sigmoid")


MAKES: dict[str, Callable[..., nn.Module]] = {
    "NPU": partial(_power, NPU),
    "Real NPU": partial(_power, RealNPU),
    "Dense": _dense,
}
ROWS = (*MAKES, SOLVED)


def _drawn(gain: float, model: nn.Module, seeds: Sequence[int]) -> Parameters:
    """Xavier's uniform scheme times a gain; gates are 1/2, biases and imaginary weights 0."""
    schemes: dict[str, Initialiser] = {}
    for name, p in model.named_parameters():
        if name.endswith("gate"):
            schemes[name] = Constant(0.5)
        elif p.dim() == 2 and not name.endswith("imaginary"):
            schemes[name] = xavier_uniform(p.shape[1], p.shape[0], gain)
    return {name: p.double() for name, p in drawn_by(model, schemes, seeds).items()}


def _budget(scale: Scale) -> Budget:
    return Budget(scale, SEEDS, QUICK_SEEDS)


def _widths(scale: Scale) -> tuple[int, ...]:
    return QUICK_WIDTHS if scale.quick else WIDTHS


def cases(scale: Scale) -> dict[str, list[Case]]:
    """The networks of each row that the scale asks for."""
    found: dict[str, list[Case]] = {}
    for row in chosen_rows(scale, ROWS):
        if row == SOLVED:
            model = ModelSpec.parse("realnpu+nau@second-order")
            found[row] = [Case(model, Epidemic("fsir"), hidden=TERMS)]
        else:
            found[row] = [_case(row, width, s, scale) for width in _widths(scale) for s in STRENGTHS]
    return found


def _case(row: str, width: int, strength: float, scale: Scale) -> Case:
    recipe = Recipe(
        optimiser=RMSProp(5e-3, decay=0.9),
        penalties=(L1(strength),),
        clamps=(),
        batch_size=Epidemic("fsir").samples("train"),
        iterations=_budget(scale).steps(STEPS),
    )
    draw = partial(_drawn, 1.0 if row == "Dense" else 0.2)
    model = GivenModel(f"heim2020-fsir:{row}", partial(MAKES[row], width), draw, (("hidden", width),))
    return Case(model, Epidemic("fsir"), other_recipe=recipe)


def plan(scale: Scale) -> list[Experiment]:
    """Every network, trained for every seed."""
    listed = tuple(case for row in cases(scale).values() for case in row)
    return [Experiment("heim2020:section4.1", listed, _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """The lowest error of each row among networks of at most so many parameters."""
    found: dict[Key, Finding] = {}
    points: dict[str, list[Point]] = {}
    for row, listed in cases(scale).items():
        runs = [(case, record) for case in listed for record in records[case]]
        points[row] = [point for case, record in runs for point in _points(row, case, record)]
        for column, most in COLUMNS.items():
            errors = [p.error for p in points[row] if p.size <= most and np.isfinite(p.error)]
            found[row, column, METRIC] = Finding(min(errors, default=None), None, None, len(runs))
    widths = _widths(scale)
    fewer = [f"hidden values: {_listed(widths)} instead of {_listed(WIDTHS)}"] if widths != WIDTHS else []
    return Measured(Findings(found), [*_ALWAYS, *_budget(scale).reduced(), *fewer], points)


def _listed(widths: Sequence[int]) -> str:
    return ", ".join(map(str, widths))


def _points(row: str, case: Case, record: Record) -> list[Point]:
    if row == SOLVED:
        return [Point(laws.size, whole_error(laws)) for laws in front_of(record)]
    model = final_model(case, record)
    size = sum(int((p.detach().abs() > _COUNTS).sum()) for p in model.parameters())
    return [Point(size, network_error(model))]


def network_error(model: nn.Module) -> float:
    """The mean squared error of a network over the whole epidemic, by the solver it was trained with."""
    _, states = simulate("fsir")
    now, ahead = torch.tensor(states[:1]), []
    with torch.no_grad():
        for _ in range(len(states) - 1):
            now = model.double()(now)
            ahead.append(now[0].numpy())
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean((np.stack([states[0], *ahead]) - states) ** 2))


def whole_error(laws: PowerLaws) -> float:
    """The mean squared error of equations over the whole epidemic, by Runge-Kutta steps."""
    followed = Trajectory(*simulate("fsir"), substeps=_SUBSTEPS).follow(laws)
    return float(np.mean((followed - simulate("fsir")[1]) ** 2))


def front_of(record: Record) -> list[PowerLaws]:
    """The equations of a stored run, the largest first; those it ends with, if no others were kept."""
    kept: Mapping[str, np.ndarray] = record.history
    if not kept:
        return [laws_of(record.final_parameters)]
    return [laws_of({name: p[k] for name, p in kept.items()}) for k in range(len(next(iter(kept.values()))))]


def laws_of(parameters: Mapping[str, np.ndarray]) -> PowerLaws:
    """The equations of a stack of a RealNPU and a NAU whose gates are 1."""
    exponents, factors = (p for name, p in sorted(parameters.items()) if name.endswith("weight"))
    return PowerLaws(np.asarray(exponents, dtype=float), np.asarray(factors, dtype=float))
