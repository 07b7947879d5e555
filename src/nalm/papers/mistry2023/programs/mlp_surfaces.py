"""Thesis, section 1.4.1, figures 1.3 and 1.6: what an MLP learns of x1 op x2, drawn beyond its data.

One hidden layer of ReLUs, Adam with learning rate 1e-3, batches of 128 from U[1,2), tested on U[2,6). The
public program draws the hidden layer by Kaiming's uniform scheme and the output layer by Xavier's; biases
are 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel
from nalm.models.baselines import MLP
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import share
from nalm.papers.shared.networks import chosen_model, drawn_by
from nalm.recipes import Recipe
from nalm.recipes.initialisers import Initialiser, Uniform, xavier_uniform
from nalm.tasks import SingleModule, Split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGNS = {"add": "+", "sub": "-", "mul": "×", "div": "÷"}
REACH = 6.0
"""Surfaces are drawn over [-6, 6] for both inputs."""
_LINES = 121


@dataclass(frozen=True)
class Network:
    """An MLP of one hidden layer as the thesis trains it.

    Attributes:
        width: size of the hidden layer.
        steps: number of training steps.
        bias: whether layers have biases.
        quick: fraction of the steps in the quick protocol.
    """

    width: int
    steps: int
    bias: bool = True
    quick: float = 1.0

    @property
    def label(self) -> str:
        """Its name in the thesis."""
        return f"MLP ({self.width})"

    def budget(self, scale: Scale) -> Budget:
        """25 seeds at every scale, and `quick` of the steps at the quick scale."""
        return Budget(scale, 25, quick_seeds=25, quick_steps=self.quick)

    def case(self, op: str, scale: Scale) -> Case:
        """The network on an operation, trained by plain Adam with learning rate 1e-3."""
        shifts = (("bias", self.bias),)
        model = GivenModel(f"mistry2023:{self.label}", self.module, self.initial, options=shifts)
        recipe = Recipe(iterations=self.budget(scale).steps(self.steps))
        return Case(model, SingleModule(op, "1:2"), other_recipe=recipe)

    def module(self, inputs: int = 2, outputs: int = 1) -> MLP:
        """The architecture."""
        return MLP(inputs, outputs, hidden=(self.width,), bias=self.bias)

    def initial(self, module: nn.Module, seeds: Sequence[int]) -> Parameters:
        """Kaiming's uniform scheme for ReLUs, r = sqrt(6 / in), then Xavier's; biases are 0."""
        schemes: dict[str, Initialiser] = {
            "layers.0.weight": Uniform(-math.sqrt(3), math.sqrt(3)),
            "layers.2.weight": xavier_uniform(self.width, 1),
        }
        return drawn_by(module, schemes, seeds)


class Surface(NamedTuple):
    """What one run learnt: a label that says which thresholds it meets, and its values over the grid."""

    label: str
    values: np.ndarray


Surfaces = dict[str, list[Surface]]
"""By operation: the true surface, then that of one run per outcome."""


def plan(entry: str, networks: Sequence[Network], ops: Sequence[str], scale: Scale) -> list[Experiment]:
    """Every network on every operation, all with the same seeds."""
    wanted = _wanted(networks, scale)
    cases = tuple(network.case(op, scale) for network in wanted for op in ops)
    return [Experiment(entry, cases, wanted[0].budget(scale).seeds)]


def compute(networks: Sequence[Network], ops: Sequence[str], scale: Scale, records: Records) -> Measured:
    """What every network learnt of every operation."""
    found: dict[Key, Finding] = {}
    surfaces: Surfaces = {op: [Surface(f"Gold {SIGNS[op]}", true_surface(op))] for op in ops}
    wanted = _wanted(networks, scale)
    for network in wanted:
        for op in ops:
            case = network.case(op, scale)
            learnt = _learnt(case, op, records[case])
            for metric, finding in learnt.measures().items():
                found[network.label, op, metric] = finding
            surfaces[op] += learnt.outcomes(network.label)
    return Measured(Findings(found), _reduced(wanted, scale), surfaces)


def _wanted(networks: Sequence[Network], scale: Scale) -> list[Network]:
    rows = chosen_rows(scale, (network.label for network in networks))
    return [network for network in networks if network.label in rows]


def _reduced(networks: Sequence[Network], scale: Scale) -> list[str]:
    said = networks[0].budget(scale).fewer_seeds()
    for network in networks:
        steps = network.budget(scale).steps(network.steps)
        if steps < network.steps:
            said.append(f"{network.label}: {steps:,} steps instead of {network.steps:,}")
    return said


@dataclass(frozen=True)
class Learnt:
    """What the runs of a network on an operation learnt.

    Attributes:
        op: the operation.
        inside: whether each run meets the threshold in the training range.
        outside: whether each run meets the threshold in the test range.
        surfaces: the chosen networks over the grid, `runs x lines x lines`.
    """

    op: str
    inside: list[bool]
    outside: list[bool]
    surfaces: np.ndarray

    def measures(self) -> dict[str, Finding]:
        """Success in both ranges, and the share of runs that are right over the whole surface."""
        measures = {"success": share(self.outside), "interpolation success": share(self.inside)}
        limit = SingleModule(self.op, f"1:2=>{-REACH:g}:{REACH:g}").threshold()
        if limit is not None:  # None for quotients, whose divisor may be close to zero
            errors = np.square(self.surfaces - true_surface(self.op)).mean((-2, -1))
            measures["true function"] = share([bool(error < limit) for error in errors])
        return measures

    def outcomes(self, label: str) -> list[Surface]:
        """The first run of every outcome that occurs, labelled with the number of such runs."""
        words = ["".join("T" if met else "F" for met in pair) for pair in zip(self.inside, self.outside)]
        return [
            Surface(f"{label}({each}), {words.count(each)} of {len(words)}", self.surfaces[words.index(each)])
            for each in sorted(set(words), reverse=True)
        ]


def _learnt(case: Case, op: str, records: Sequence[Record]) -> Learnt:
    met = {
        side: [
            bool(getattr(record, side)[record.chosen] < (case.task.threshold(side) or 0.0))
            for record in records
        ]
        for side in (Split.VALIDATION, Split.TEST)
    }
    x1, x2 = grid()
    points = torch.stack([x1, x2], -1).reshape(-1, 2)
    with torch.no_grad():
        values = torch.stack([chosen_model(case, record)(points) for record in records])
    surfaces = values.reshape(-1, *x1.shape).double().numpy()
    return Learnt(op, met[Split.VALIDATION], met[Split.TEST], surfaces)


def grid() -> tuple[Tensor, Tensor]:
    """Both inputs over the surface, the first along the last axis."""
    line = torch.linspace(-REACH, REACH, _LINES)
    x2, x1 = torch.meshgrid(line, line, indexing="ij")
    return x1, x2


def true_surface(op: str) -> np.ndarray:
    """x1 op x2 over the grid; NaN for quotients where the second input is 0."""
    x1, x2 = (x.double().numpy() for x in grid())
    if op == "div":
        near = np.abs(x2) < REACH / _LINES
        return np.where(near, np.nan, x1 / np.where(near, 1.0, x2))
    result: np.ndarray = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](x1, x2)
    return result


def draw(measured: Measured, figure: Figure) -> None:
    """One row per operation: the true surface, then those that networks learnt."""
    surfaces: Surfaces = measured.data
    columns = max(map(len, surfaces.values()))
    figure.set_size_inches(2.6 * columns + 0.8, 2.5 * len(surfaces) + 0.4)
    axes = figure.subplots(len(surfaces), columns, squeeze=False)
    for line, shown in zip(axes, surfaces.values()):
        limit = REACH if shown[0].label.endswith(SIGNS["div"]) else float(np.nanmax(np.abs(shown[0].values)))
        for axis, surface in zip(line, shown):
            picture = _surface(axis, surface, limit)
        for axis in line[len(shown) :]:
            axis.set_axis_off()
        figure.colorbar(picture, ax=list(line), fraction=0.02)
    figure.suptitle("x1 op x2 as MLPs learn it; blue: training range, red: test range")


def _surface(axis: Axes, surface: Surface, limit: float) -> Any:
    from matplotlib.patches import Rectangle

    span = (-REACH, REACH, -REACH, REACH)
    picture = axis.imshow(
        np.clip(surface.values, -limit, limit),
        extent=span,
        origin="lower",
        cmap="viridis",
        vmin=-limit,
        vmax=limit,
    )
    for corner, size, colour in ((1, 1, "blue"), (2, 4, "red")):
        axis.add_patch(Rectangle((corner, corner), size, size, fill=False, edgecolor=colour, linewidth=1.4))
    axis.set_title(surface.label, fontsize=9)
    axis.set_xticks((-6, 0, 6))
    axis.set_yticks((-6, 0, 6))
    return picture
