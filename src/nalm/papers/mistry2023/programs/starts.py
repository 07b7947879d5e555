"""Where an NMU and a sNMU end, from every start on a grid (thesis, figure 4.3).

One sample, SGD with learning rate 1e-3, 2,500 steps, no penalty, weights clamped to [0, 1], noise from
U[1, 5] for the sNMU. The thesis's text multiplies -2 by -1.8, its caption -2.1 by -1.8: both are computed. A
start succeeds if the error of the final weights is below that of weights 1 - 1e-5.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nalm.evaluate.intervals import success_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.mistry2023.programs.nmu_landscape import loss
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import found
from nalm.papers.shared.networks import stacked
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.recipes import SGD, Recipe
from nalm.tasks import Table
from nalm.units import NMU, SNMU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNITS: dict[str, type[NMU]] = {"NMU": NMU, "sNMU": SNMU}
_PAIRS = {"-2 x -1.8": (-2.0, -1.8), "-2.1 x -1.8": (-2.1, -1.8)}
_STEPS = 2500
_SIDE = 21
"""Starts along each side of the grid, 0.05 apart."""


@dataclass(frozen=True)
class Field:
    """Starts and ends `n x 2`, the squared error at the ends, and whether it is a success."""

    starts: Tensor
    ends: Tensor
    error: Tensor
    solved: Tensor


def starts() -> Tensor:
    """All starts `n x 2`; the index of a start is the seed of its run and of its noise."""
    return lattice(evenly_spaced(0, 1, _SIDE), evenly_spaced(0, 1, _SIDE))


def _at_start(unit: nn.Module, seeds: Sequence[int]) -> Parameters:
    return {"weight": starts()[list(seeds), None]}


@functools.cache
def _sample(pair: str) -> Table:
    """One sample, to train and to test on; cached, because cases are found by the identity of this object."""
    x = torch.tensor([_PAIRS[pair]] * 2, dtype=torch.float64)
    return Table(x, x.prod(-1), validation=0.5, label=pair)


def case(unit: str, pair: str, iterations: int = _STEPS) -> Case:
    """A unit on a pair; its seeds are the starts."""
    recipe = Recipe(optimiser=SGD(1e-3), iterations=iterations, batch_size=1)
    model = GivenModel(f"mistry2023-fig4.3:{unit}", _UNITS[unit], _at_start)
    return Case(model, _sample(pair), other_recipe=recipe)


def cases(scale: Scale) -> dict[tuple[str, str], Case]:
    """Both units on both pairs."""
    iterations = Budget(scale).steps(_STEPS)
    return {(unit, pair): case(unit, pair, iterations) for unit in _UNITS for pair in _PAIRS}


def plan(scale: Scale) -> list[Experiment]:
    """Both units on both pairs, from every start."""
    return [Experiment("mistry2023:fig4.3", tuple(cases(scale).values()), _SIDE**2)]


def field_of(pair: str, records: Sequence[Record]) -> Field:
    """Where runs started and ended."""
    ends = stacked(record.final_parameters for record in records)["weight"][:, 0]
    error = loss(ends, _PAIRS[pair])
    near = loss(torch.full((1, 2), 1 - 1e-5, dtype=torch.float64), _PAIRS[pair])
    return Field(starts(), ends, error, error < near)


def compute(scale: Scale, records: Records) -> Measured:
    """Share of starts that succeed, and where the others end."""
    findings: dict[Key, Finding] = {}
    fields = {}
    for (unit, pair), trained in cases(scale).items():
        field = fields[unit, pair] = field_of(pair, records[trained])
        count, solved = len(field.starts), field.solved
        findings[unit, pair, "success"] = found(success_interval(int(solved.sum()), count), count)
        corners = ((1.0, solved, "of successes at (1, 1)"), (0.0, ~solved, "of failures at (0, 0)"))
        for corner, chosen, name in corners:
            there = (field.ends[chosen] - corner).abs().amax(-1) < 0.01
            findings[unit, pair, name] = found(success_interval(int(there.sum()), len(there)), len(there))
    return Measured(Findings(findings), Budget(scale).fewer_steps(_STEPS), fields)


def _all(metric: str, unit: str) -> Check:
    return lambda f: all(f[unit, pair, metric].value == 1 for pair in _PAIRS)


def _fewer(pair: str) -> Check:
    return lambda f: (f.rate("sNMU", pair).low or 0) > (f.rate("NMU", pair).high or 0)


CLAIMS = (
    *(Claim(unit, "successes converge to (1, 1)", _all("of successes at (1, 1)", unit)) for unit in _UNITS),
    *(Claim(unit, "failures converge to (0, 0)", _all("of failures at (0, 0)", unit)) for unit in _UNITS),
    *(Claim("sNMU", f"fails from fewer starts than the NMU ({pair})", _fewer(pair)) for pair in _PAIRS),
)


def draw(measured: Measured, figure: Figure) -> None:
    """One panel per unit and product: starts coloured by the error at their end, arrows from start to end."""
    from matplotlib.colors import LogNorm

    figure.set_size_inches(8.6, 8.4)
    axes = figure.subplots(len(_PAIRS), len(_UNITS), squeeze=False, sharex=True, sharey=True)
    for column, unit in enumerate(_UNITS):
        for row, pair in enumerate(_PAIRS):
            axis, field = axes[row, column], measured.data[unit, pair]
            side = evenly_spaced(0, 1, _SIDE)
            error = field.error.clamp(min=1e-9).reshape(_SIDE, _SIDE).T
            image = axis.pcolormesh(side, side, error, cmap="RdYlGn_r", norm=LogNorm(1e-9, 10), alpha=0.75)
            way = field.ends - field.starts
            way = 0.04 * way / way.norm(dim=-1, keepdim=True).clamp(min=1e-9)
            axis.quiver(*field.starts.T, *way.T, angles="xy", scale_units="xy", scale=1, width=0.003)
            rate = measured.findings.rate(unit, pair).value or 0.0
            axis.set(title=f"{unit}, {pair.replace('x', '×')}: {rate:.2f}", aspect="equal")
            axis.set(xlabel="$w_1$" if row else "", ylabel="" if column else "$w_2$")
    figure.colorbar(image, ax=axes, label="squared error after training", shrink=0.7)
