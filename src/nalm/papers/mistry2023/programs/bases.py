"""The weight of NALU and G-NALU over its two raw weights (thesis, figure 2.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.figures import row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.units import GNALU, NALU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNITS: dict[str, type[NALU]] = {"NALU (base e)": NALU, "G-NALU (golden ratio)": GNALU}
_EXTENT, _COUNT = 10.0, 201
_NEAR = 0.01
"""A weight counts as discrete if it is this close to -1, 0 or 1."""


def surface(kind: type[NALU], raw: Tensor) -> tuple[Tensor, Tensor]:
    """The effective weight at pairs of raw weights `n x 2`, and the norm of its gradient there."""
    unit = kind(1, 1, batch_shape=(len(raw),), dtype=torch.float64)
    with torch.no_grad():
        unit.w_hat.copy_(raw[:, 0, None, None])
        unit.m_hat.copy_(raw[:, 1, None, None])
    weight = unit.weights()["W"]
    slopes = torch.autograd.grad(weight.sum(), (unit.w_hat, unit.m_hat))
    return weight.detach().flatten(), torch.hypot(*slopes).flatten()


def compute(scale: Scale) -> Measured:
    """How steep each surface is, how much of it is flat, and where its corners are."""
    raw = lattice(evenly_spaced(-_EXTENT, _EXTENT, _COUNT), evenly_spaced(-_EXTENT, _EXTENT, _COUNT))
    findings: dict[Key, Finding] = {}
    surfaces = {}
    for name, kind in _UNITS.items():
        weight, slope = surface(kind, raw)
        discrete = (weight - weight.round()).abs() < _NEAR
        findings[name, "steepest slope", "value"] = exact(slope.max())
        findings[name, "share within 0.01 of {-1, 0, 1}", "value"] = exact(discrete.double().mean())
        for corner in ((-1, 1), (1, 1), (1, -1)):
            at = surface(kind, 20 * torch.tensor([corner], dtype=torch.float64))[0]
            findings[name, f"raw weights {corner} x 20", "weight"] = exact(at)
        surfaces[name] = weight.reshape(_COUNT, _COUNT)
    return Measured(Findings(findings), data=surfaces)


def _discrete(name: str) -> Claim:
    def check(f: Findings) -> bool:
        expected = {(-1, 1): -1, (1, 1): 1, (1, -1): 0}
        found = {corner: f[name, f"raw weights {corner} x 20", "weight"].value or 0.0 for corner in expected}
        return all(abs(found[corner] - value) < 1e-3 for corner, value in expected.items())

    return Claim(name, "large raw weights give -1, 0 and 1", check)


CLAIMS = (
    _discrete("NALU (base e)"),
    _discrete("G-NALU (golden ratio)"),
    Claim("G-NALU (golden ratio)", "changes more smoothly: its steepest slope is less",
          lambda f: _value(f, 1, "steepest slope") < _value(f, 0, "steepest slope")),
    Claim("G-NALU (golden ratio)", "changes more smoothly: less of it is flat",
          lambda f: _value(f, 1, "share within 0.01 of {-1, 0, 1}")
          < _value(f, 0, "share within 0.01 of {-1, 0, 1}")),
)  # fmt: skip


def _value(f: Findings, unit: int, column: str) -> float:
    return f[tuple(_UNITS)[unit], column, "value"].value or 0.0


def draw(measured: Measured, figure: Figure) -> None:
    """One map per unit, with lines of equal weight."""
    axes = row_of_panels(figure, len(_UNITS), 4.6, 4.0)
    axis_values = evenly_spaced(-_EXTENT, _EXTENT, _COUNT).numpy()
    levels = [-0.99, -0.5, -0.1, 0.1, 0.5, 0.99]
    for axis, (name, weight) in zip(axes, measured.data.items()):
        values = weight.T.numpy()  # rows are m_hat
        image = axis.pcolormesh(axis_values, axis_values, values, cmap="RdBu_r", vmin=-1, vmax=1,
                                shading="gouraud", rasterized=True)  # fmt: skip
        lines = axis.contour(axis_values, axis_values, values, levels, colors="0.2", linewidths=0.7)
        axis.clabel(lines, fontsize=7)
        axis.set(title=name, xlabel=r"$\hat W$", ylabel=r"$\hat M$", aspect="equal")
    figure.colorbar(image, ax=list(axes), label="$W$", shrink=0.85)
