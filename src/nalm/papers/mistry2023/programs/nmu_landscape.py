"""The loss of an NMU that multiplies -2 by -1.8, over its two weights (thesis, figure 4.1).

The loss is zero along the whole hyperbola (1 - 3 w1)(1 - 2.8 w2) = 3.6: both minima that the thesis names lie
on it, one on each branch. With weights between 0 and 1, only (1, 1) remains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.units import NMU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUT = (-2.0, -1.8)
_OTHER = (-4.0, -3.0)
"""Another input, from the test range of U[-2,-1)."""
_MINIMA = {"(1, 1)": (1.0, 1.0), "(-1/6, -0.5)": (-1 / 6, -0.5)}
_CORNER = "(0, 0)"
_LOW, _HIGH, _COUNT = -1.0, 1.5, 251


def _units(weights: Tensor) -> NMU:
    unit = NMU(2, 1, batch_shape=(len(weights),), dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(weights[:, None])
    return unit


def output(weights: Tensor, inputs: tuple[float, float] = INPUT) -> Tensor:
    """The outputs of NMUs with weights `n x 2` for one input."""
    x = torch.tensor(inputs, dtype=torch.float64).expand(len(weights), 1, 2)
    return _units(weights)(x).detach().flatten()


def loss(weights: Tensor, inputs: tuple[float, float] = INPUT) -> Tensor:
    """The squared error of NMUs with weights `n x 2` on one input."""
    return (output(weights, inputs) - inputs[0] * inputs[1]).square()


def step_from(weights: tuple[float, float], rate: float = 1e-3) -> Tensor:
    """The weights after a step of gradient descent and the NMU's clamp."""
    unit = _units(torch.tensor([weights], dtype=torch.float64))
    x = torch.tensor(INPUT, dtype=torch.float64).expand(1, 1, 2)
    (slope,) = torch.autograd.grad((unit(x) - INPUT[0] * INPUT[1]).square().sum(), unit.weight)
    with torch.no_grad():
        unit.weight -= rate * slope
    unit.project_()
    return unit.weight.detach().flatten()


def compute(scale: Scale) -> Measured:
    """The surface, and what the text says about three points of it."""
    findings: dict[Key, Finding] = {}
    for name, point in _MINIMA.items():
        # A weight of 0 makes its factor 1, so that only the other factor is left.
        alone = torch.tensor([[point[0], 0], [0, point[1]], point], dtype=torch.float64)
        for column, value in zip(("first factor", "second factor", "output"), output(alone)):
            findings[name, column, "value"] = exact(value)
        findings[name, "loss", "value"] = exact(loss(alone[2:]))
        findings[name, "loss at -4 x -3", "value"] = exact(loss(alone[2:], _OTHER))
    moved = step_from((0.0, 0.0))
    findings[_CORNER, "distance of a clamped step", "value"] = exact(moved.abs().max())
    axis = evenly_spaced(_LOW, _HIGH, _COUNT)
    return Measured(Findings(findings), data=(axis, loss(lattice(axis, axis)).reshape(_COUNT, _COUNT)))


def _value(f: Findings, row: str, column: str) -> float:
    return f[row, column, "value"].value or 0.0


CLAIMS = (
    Claim("(1, 1)", "is a minimum of loss 0", lambda f: _value(f, "(1, 1)", "loss") < 1e-20),
    Claim("(-1/6, -0.5)", "is another of loss 0", lambda f: _value(f, "(-1/6, -0.5)", "loss") < 1e-20),
    Claim("(1, 1)", "extrapolates", lambda f: _value(f, "(1, 1)", "loss at -4 x -3") < 1e-20),
    Claim("(-1/6, -0.5)", "does not extrapolate",
          lambda f: _value(f, "(-1/6, -0.5)", "loss at -4 x -3") > 1),
    Claim(_CORNER, "clamped descent towards the second minimum stops here",
          lambda f: _value(f, _CORNER, "distance of a clamped step") == 0),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """The surface from above, the three points, and the box that the weights are clamped to."""
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    axis_values, values = measured.data
    figure.set_size_inches(5.6, 4.6)
    axis = figure.subplots()
    image = axis.pcolormesh(axis_values, axis_values, values.T.clamp(min=1e-3), cmap="viridis",
                            norm=LogNorm(1e-3, 1e2), shading="gouraud", rasterized=True)  # fmt: skip
    box = Rectangle((0, 0), 1, 1, fill=False, edgecolor="black", linestyle="--", label="clamp to [0, 1]")
    axis.add_patch(box)
    points = {**_MINIMA, _CORNER: (0.0, 0.0)}
    for (name, point), colour in zip(points.items(), ("#56B4E9", "red", "black")):
        axis.scatter(*point, marker="x", s=90, linewidths=3, color=colour, label=name, zorder=3)
    axis.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal", title="NMU, $-2 \\times -1.8$")
    figure.colorbar(image, label="squared error")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
