"""What the relevance gate does to the gradient of an NPU (thesis, figure 2.14; Heim et al. 2020, figure 3).

The task is to select the first of two inputs: the solution is w1 = 1, w2 = 0. The loss is the mean absolute
error. The thesis does not give the inputs: here x1 comes from U(0, 2) and x2 from U(0, 0.05), so that the
irrelevant input is near zero.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.evaluate.intervals import success_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.figures import row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact, found
from nalm.papers.shared.networks import stacked
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import Table
from nalm.units import NPU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GATES: dict[str, tuple[float, float] | None] = {
    "NaiveNPU": None,
    "NPU, gates (0.5, 0.5)": (0.5, 0.5),
    "NPU, gates (1, 0)": (1.0, 0.0),
}
_NAIVE, _START, _END = _GATES
_LOW, _HIGH, _COUNT, _SAMPLES = -1.0, 2.0, 61, 500
_FLAT = 0.1
"""Gradients with a norm below this count as flat."""
_SEEDS = 25


def samples(count: int = _SAMPLES) -> tuple[Tensor, Tensor]:
    """Two inputs, and the first of them as the target."""
    stream = key(torch.zeros(1, dtype=torch.int32), Purpose.DATA, 0)
    u = uniform(stream, counters(2 * count), torch.float64).reshape(count, 2)
    x = u * torch.tensor([2.0, 0.05], dtype=torch.float64)
    return x, x[:, :1]


def gradient_norm(weights: Tensor, gates: tuple[float, float] | None) -> Tensor:
    """Norm of the gradient with respect to the real weights, at weights `n x 2`."""
    unit = NPU(2, 1, relevance=gates is not None, batch_shape=(len(weights),), dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(weights[:, None])
        if gates is not None:
            unit.gate.copy_(torch.tensor(gates))
    x, y = samples()
    error = (unit(x.expand(len(weights), -1, -1)) - y).abs().mean((-2, -1))
    (slope,) = torch.autograd.grad(error.sum(), unit.weight)
    return slope.flatten(1).norm(dim=-1)


@functools.cache
def _table() -> Table:
    """The samples in single precision; cached, because its case is found by the identity of this object."""
    x, y = (part.float() for part in samples())
    return Table(x, y, label="select the first of two")


def _budget(scale: Scale) -> Budget:
    return Budget(scale, _SEEDS, quick_seeds=_SEEDS, quick_steps=0.2)


def case(scale: Scale) -> Case:
    """The NPU, trained by the published recipe for products."""
    recipe = NPU.recipe("mul")
    steps = _budget(scale).steps(recipe.iterations)
    return Case(ModelSpec.parse("npu"), _table(), other_recipe=replace(recipe, iterations=steps))


def plan(scale: Scale) -> list[Experiment]:
    """The NPU, trained for every seed."""
    return [Experiment("mistry2023:fig2.14", (case(scale),), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """The three maps, how flat they are at large w2, and the gates after training."""
    axis = evenly_spaced(_LOW, _HIGH, _COUNT)
    points = lattice(axis, axis)
    beyond = points[:, 1] > 0.75
    findings: dict[Key, Finding] = {}
    maps = {}
    for name, gates in _GATES.items():
        norm = gradient_norm(points, gates)
        findings[name, "share of w2 > 0.75 with gradient < 0.1", "value"] = exact(
            (norm[beyond] < _FLAT).double().mean()
        )
        findings[name, "median gradient at w2 > 0.75", "value"] = exact(norm[beyond].median())
        maps[name] = norm.reshape(_COUNT, _COUNT)
    gates_found = stacked(record.final_parameters for record in records[case(scale)])["gate"].clamp(0, 1)
    ended = ((gates_found - torch.tensor([1.0, 0.0])).abs() < 0.1).all(-1)
    share = found(success_interval(int(ended.sum()), len(ended)), len(ended))
    findings["NPU, trained", "share of seeds with gates (1, 0)", "value"] = share
    budget = _budget(scale)
    reduced = budget.fewer_seeds() + budget.fewer_steps(NPU.recipe("mul").iterations)
    return Measured(Findings(findings), reduced, (maps, gates_found))


def _value(f: Findings, row: str, column: str) -> float:
    return f[row, column, "value"].value or 0.0


_SHARE = "share of w2 > 0.75 with gradient < 0.1"
CLAIMS = (
    Claim(_NAIVE, "has a large region without gradient at w2 > 0.75",
          lambda f: _value(f, _NAIVE, _SHARE) > 0.5),
    Claim(_START, "has none with the gates it starts from", lambda f: _value(f, _START, _SHARE) < 0.05),
    Claim(_END, "has none with the gates it ends with", lambda f: _value(f, _END, _SHARE) < 0.05),
    Claim("NPU, trained", "the gates converge to (1, 0)",
          lambda f: (f["NPU, trained", "share of seeds with gates (1, 0)", "value"].high or 0) > 0.9),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """One map per unit, with the solution marked."""
    from matplotlib.colors import LogNorm

    maps, _ = measured.data
    axes = row_of_panels(figure, len(maps), 3.9, 3.9)
    values = evenly_spaced(_LOW, _HIGH, _COUNT)
    for axis, (name, norm) in zip(axes, maps.items()):
        image = axis.pcolormesh(values, values, norm.T.clamp(min=1e-3), cmap="viridis",
                                norm=LogNorm(1e-2, 1e2), shading="gouraud", rasterized=True)  # fmt: skip
        axis.contour(values, values, norm.T, [_FLAT], colors="white", linewidths=0.8)
        axis.scatter(1, 0, marker="x", s=70, linewidths=2.5, color="red", zorder=3)
        axis.axhline(0.75, color="white", linestyle="--", linewidth=0.9)
        axis.set(title=name, xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
    figure.colorbar(image, ax=list(axes), label="length of the gradient", shrink=0.8)
