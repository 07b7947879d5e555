"""What units do with inputs that do not matter (thesis, section 5.9).

Solutions other than the simple one: an NMRU may select an input together with its reciprocal, because
a * 1/a = 1, and a Real NPU may have any power of an input whose gate is closed, because 1 ** a = 1. And the
gradient of the NRU, of which the section makes four observations.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.recipes import Discretise
from nalm.tasks import SingleModule, Split
from nalm.tasks.sampling import sample
from nalm.units import NMRU, NRU, RealNPU, Unit

_INPUTS, _ROWS = 10, 200
TASK = SingleModule("div", "1:2", _INPUTS)
NEAR = (-0.5, -0.1, -0.01, -0.001, 0.001, 0.01, 0.1, 0.5)
"""Weights of an NRU from around zero to well away from it."""


def solutions(kind: type[Unit]) -> Unit:
    """256 units that divide: the simple one first, then those that select others of the eight other inputs.

    They have the weight 1 for each input of a subset; an NMRU for its reciprocal, too.
    """
    subsets = torch.tensor(list(itertools.product((0.0, 1.0), repeat=_INPUTS - 2)), dtype=torch.float64)
    units = kind(_INPUTS, 1, batch_shape=(len(subsets),), dtype=torch.float64).eval()
    units.ideal_("div", 0, 1)
    with torch.no_grad():
        weight = units.weights()["W"]
        weight[:, 0, 2:_INPUTS] = subsets
        if isinstance(units, NMRU):
            weight[:, 0, _INPUTS + 2 :] = subsets
    return units


def solved(units: Unit) -> int:
    """How many of them have a test error below the task's threshold."""
    x, y = sample(TASK, 0, Split.TEST, _ROWS)
    with torch.no_grad():
        errors = (units(x.expand(*units.batch_shape, *x.shape)) - y).square().mean((-2, -1))
    return int((errors < (TASK.threshold() or 0.0)).sum())


def nonzero(units: Unit) -> Tensor:
    """The number of weights that are not 0, of each unit."""
    return (units.weights()["W"] != 0).sum((-2, -1))


def zero_penalty(recipe: str) -> Tensor:
    """What a recipe of the Real NPU charges for its simple solution: weights of 0 behind closed gates."""
    unit = RealNPU(_INPUTS, 1, batch_shape=(1,), dtype=torch.float64)
    unit.ideal_("div", 0, 1)
    parts = [p for p in RealNPU.recipe("div", recipe, inputs=_INPUTS).penalties if isinstance(p, Discretise)]
    values = [part.value(unit) for part in parts]
    return torch.stack([value for value in values if value is not None]).sum().detach()


def slope(x: float, weight: float) -> float:
    """The gradient of a training NRU of one input with respect to its weight."""
    unit = NRU(1, 1, dtype=torch.float64).train()
    with torch.no_grad():
        unit.weight.fill_(weight)
    (found,) = torch.autograd.grad(unit(torch.tensor([[x]], dtype=torch.float64)).sum(), unit.weight)
    return float(found)


def compute(scale: Scale) -> Measured:
    """How many solutions there are, what they cost, and the NRU's gradient at the section's points."""
    found: dict[Key, Finding] = {}
    for row, kind in (("NMRU", NMRU), ("Real NPU", RealNPU), ("NRU", NRU)):
        units = solutions(kind)
        found[row, "solutions of 256", "value"] = exact(solved(units))
        found[row, "non-zero weights of the simple one", "value"] = exact(nonzero(units)[0])
        found[row, "non-zero weights of the last", "value"] = exact(nonzero(units)[-1])
    found["Real NPU", "penalty of the simple solution, {-1,1}", "value"] = exact(zero_penalty("modified"))
    found["Real NPU", "penalty of the simple solution, {-1,0,1}", "value"] = exact(
        zero_penalty("modified-zero")
    )
    for x in (1e-2, 1e-4, 1e-6):
        found["NRU", f"gradient at x = {x:g}, w = -0.0005", "value"] = exact(slope(x, -5e-4))
    for w in (-0.25, -0.5, -1.0):
        found["NRU", f"gradient at x = 1000, w = {w:g}", "value"] = exact(slope(1e3, w))
    for x in (1.0, -1.0):
        largest = max(abs(slope(x, w)) for w in NEAR)
        found["NRU", f"largest gradient at x = {x:g}", "value"] = exact(largest)
    flat = max(abs(slope(x, 0.0)) for x in (-5.0, -1.0, 0.01, 0.5, 3.0))
    found["NRU", "largest gradient at w = 0", "value"] = exact(flat)
    return Measured(Findings(found))


def _of(f: Findings, row: str, column: str) -> float:
    return f[row, column, "value"].value or 0.0


def _sizes(f: Findings, columns: Sequence[str]) -> list[float]:
    return [abs(_of(f, "NRU", column)) for column in columns]


_NEAR_ZERO = [f"gradient at x = {x:g}, w = -0.0005" for x in (1e-2, 1e-4, 1e-6)]
_FAR = [f"gradient at x = 1000, w = {w:g}" for w in (-0.25, -0.5, -1.0)]
_PENALTY = "penalty of the simple solution, "

CLAIMS = (
    Claim("NMRU", "numerous solutions extrapolate, by a * 1/a = 1",
          lambda f: _of(f, "NMRU", "solutions of 256") > 1),
    Claim("NMRU", "these have non-zero weights for inputs that do not matter",
          lambda f: _of(f, "NMRU", "non-zero weights of the last") > 2),
    Claim("Real NPU", "weights behind closed gates may be non-zero, by 1 ** a = 1",
          lambda f: _of(f, "Real NPU", "solutions of 256") > 1),
    Claim("Real NPU", "this is avoided by not penalising 0",
          lambda f: _of(f, "Real NPU", _PENALTY + "{-1,1}") > _of(f, "Real NPU", _PENALTY + "{-1,0,1}") == 0),
    Claim("NRU", "gradients grow as x and w approach 0",
          lambda f: _sizes(f, _NEAR_ZERO) == sorted(_sizes(f, _NEAR_ZERO))),
    Claim("NRU", "gradients of large x become small as w goes to -1",
          lambda f: _sizes(f, _FAR) == sorted(_sizes(f, _FAR), reverse=True)),
    Claim("NRU", "the gradient at x = 1 is 0 whatever the weight",
          lambda f: _of(f, "NRU", "largest gradient at x = 1") < 1e-9),
    Claim("NRU", "the gradient at x = -1 is 0 whatever the weight",
          lambda f: _of(f, "NRU", "largest gradient at x = -1") < 1e-9),
    Claim("NRU", "the gradient at w = 0 is 0 for all x",
          lambda f: _of(f, "NRU", "largest gradient at w = 0") == 0),
)  # fmt: skip
