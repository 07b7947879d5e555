"""Penalties that make weights discrete, and how they are switched on (thesis, figure 2.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS, row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced
from nalm.recipes.schedules import Ramp, StepState
from nalm.units import NAU, NMU
from nalm.units.inac import AWAY, saturation_penalty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RAMP = Ramp(4, 6)
"""As in the caption: the penalty grows between iterations 4 and 6."""
_MARKS: dict[str, tuple[float, ...]] = {
    "NAU": (-1, -0.5, 0, 0.5, 1),
    "NMU": (0, 0.25, 0.5, 0.75, 1),
    "ramp": (0, 4, 5, 6, 10),
    "iNALU": (-25, -20, -10, 0, 10, 20, 25),
}
"""Where each curve is read off."""


def _of_unit(kind: type[NAU] | type[NMU], weights: Tensor) -> Tensor:
    """Equation 2.15 for units of one weight, one unit per value."""
    unit = kind(1, 1, batch_shape=(len(weights),), dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(weights[:, None, None])
        return unit.penalty()


def curve(name: str, at: Tensor) -> Tensor:
    """A penalty as a function of the weight, or the ramp as a function of the iteration."""
    if name == "ramp":
        return _RAMP.scale(StepState(at, torch.zeros_like(at)))
    if name == "iNALU":  # equation 2.10 for a single parameter
        return saturation_penalty((at[:, None],), 1)
    return _of_unit(NAU if name == "NAU" else NMU, at)


def compute(scale: Scale) -> Measured:
    """The values of the curves at the points that the text mentions."""
    lines = {
        "NAU": evenly_spaced(-1, 1, 401),
        "NMU": evenly_spaced(0, 1, 201),
        "ramp": evenly_spaced(0, 10, 401),
        "iNALU": evenly_spaced(-30, 30, 601),
    }
    findings: dict[Key, Finding] = {}
    for name, marks in _MARKS.items():
        values = curve(name, torch.tensor(marks, dtype=torch.float64))
        for mark, value in zip(marks, values):
            findings[name, f"at {mark:g}", "value"] = exact(value)
    between = evenly_spaced(0, 1, 201)
    gap = (curve("NAU", between) - curve("NMU", between)).abs().max()
    findings["NMU", "on [0, 1]", "difference from NAU"] = exact(gap)
    return Measured(Findings(findings), data={name: (x, curve(name, x)) for name, x in lines.items()})


def _zeros(name: str, zeros: set[float]) -> Claim:
    def check(f: Findings) -> bool:
        return {m for m in _MARKS[name] if f[name, f"at {m:g}", "value"].value == 0} == zeros

    return Claim(name, f"is zero at {', '.join(f'{z:g}' for z in sorted(zeros))} alone", check)


def _at(f: Findings, name: str, mark: float) -> float:
    return f[name, f"at {mark:g}", "value"].value or 0.0


CLAIMS = (
    _zeros("NAU", {-1, 0, 1}),
    _zeros("NMU", {0, 1}),
    Claim("NMU", "needs no absolute value: on [0, 1] it is that of the NAU",
          lambda f: f["NMU", "on [0, 1]", "difference from NAU"].value == 0),
    Claim("ramp", "is 0 up to iteration 4 and 1 from iteration 6",
          lambda f: [_at(f, "ramp", m) for m in (0, 4, 6, 10)] == [0, 0, 1, 1]),
    Claim("ramp", "grows in between", lambda f: 0 < _at(f, "ramp", 5) < 1),
    Claim("iNALU", "pushes a parameter away from 0 towards -20 or 20",
          lambda f: _at(f, "iNALU", 0) > _at(f, "iNALU", 10) == _at(f, "iNALU", -10) > _at(f, "iNALU", 20)),
    Claim("iNALU", "stops beyond -20 and 20",
          lambda f: all(_at(f, "iNALU", m) == 0 for m in (-25, -AWAY, AWAY, 25))),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """Three panels: NAU and NMU, the ramp, the iNALU."""
    axes = row_of_panels(figure, 3, 3.8, 3.3)
    panels = (("NAU", "NMU"), ("ramp",), ("iNALU",))
    titles = ("NAU and NMU (equation 2.15)", "Strength (equation 2.16)", "iNALU (equation 2.10)")
    labels = ("$W$", "iteration", r"$\theta$")
    for axis, names, title, label in zip(axes, panels, titles, labels):
        for k, name in enumerate(names):
            x, y = measured.data[name]
            style = {"linestyle": "--", "linewidth": 2.6} if k else {"linewidth": 2.0}
            axis.plot(x, y, color=COLOURS[k], label=name, **style)
        axis.set(title=title, xlabel=label)
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    axes[0].set_ylabel("penalty")
    axes[1].set_ylabel(r"$\lambda\ /\ \hat\lambda$")
