"""The highest noise that the sNMU takes from a batch: 1 + 1 / deviation (thesis, figure 4.9)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import Measured
from nalm.papers.figures import COLOURS
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import SNMU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)


def bound(deviation: float, u: float = 1.0) -> Tensor:
    """The noise of a batch of this standard deviation for the uniform number u; 1 gives the upper end."""
    unit = SNMU(2, 1, noise="batch", dtype=torch.float64)
    unit.uniform_source = lambda size, dtype, device: torch.full(size, u, dtype=dtype, device=device)
    batch = torch.linspace(-1, 1, 256, dtype=torch.float64).reshape(128, 2)
    return unit.draw_noise(deviation * batch / batch.std()).max()


def compute(scale: Scale) -> Measured:
    """Both ends of the noise as functions of the standard deviation."""
    findings = {("upper bound", f"deviation {mark:g}", "noise"): exact(bound(mark)) for mark in _MARKS}
    findings |= {("lower bound", f"deviation {mark:g}", "noise"): exact(bound(mark, 0.0)) for mark in _MARKS}
    line = torch.linspace(0.05, 10, 200, dtype=torch.float64)
    return Measured(Findings(findings), data=(line, torch.stack([bound(float(at)) for at in line])))


def _upper(f: Findings, mark: float) -> float:
    return f["upper bound", f"deviation {mark:g}", "noise"].value or 0.0


def _is_exponential(f: Findings) -> bool:
    """Whether equal steps of the deviation divide the excess over 1 by equal factors."""
    excess = [_upper(f, mark) - 1 for mark in (1.0, 2.0, 4.0)]
    return abs((excess[0] / excess[1]) ** 2 - excess[1] / excess[2]) < 0.01


CLAIMS = (
    Claim("lower bound", "is 1 for every deviation",
          lambda f: all(f["lower bound", f"deviation {m:g}", "noise"].value == 1 for m in _MARKS)),
    Claim("upper bound", "falls as the deviation grows",
          lambda f: all(_upper(f, a) > _upper(f, b) for a, b in pairwise(_MARKS))),
    Claim("upper bound", "is 1 + 1 / deviation",
          lambda f: all(abs(_upper(f, m) - 1 - 1 / m) < 1e-9 for m in _MARKS)),
    Claim("upper bound", "is an exponential decay", _is_exponential),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """The curve, and the lower end below it."""
    line, noise = measured.data
    figure.set_size_inches(4.8, 3.4)
    axis = figure.subplots()
    axis.fill_between(line, 1, noise, color=COLOURS[0], alpha=0.15, label="noise")
    axis.plot(line, noise, color=COLOURS[0], linewidth=2, label=r"$1 + 1/\sigma(x)$")
    axis.axhline(1, color="0.4", linestyle="--", linewidth=1, label="lower bound")
    axis.set(xlabel=r"standard deviation $\sigma(x)$", ylabel="noise", xlim=(0, 10), ylim=(0, 12))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
