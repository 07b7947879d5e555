"""Loss surfaces of a sum followed by a product that can divide.

The problem is (x1 + x2)(x1 + x2 + x3 + x4) at x = (1, 1.2, 1.8, 2), the weights are W1 = [[w1 w1 0 0], [w1 w1
w1 w1]] and W2 = [w2 w2] (Madsen & Johansen 2020, figure 2; thesis, figures 2.13 and 5.18). No text gives the
ranges of the axes: here they are the weights that the units allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.claims import Check, Claim, Findings, Key
from nalm.papers.entry import Draw, Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.units import NAU, NMRU, NRU, NACMul, RealNPU, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUT = (1.0, 1.2, 1.8, 2.0)
TARGET = (1.0 + 1.2) * (1.0 + 1.2 + 1.8 + 2.0)
_SUMS = ((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0))
_COUNT = 101
_CEILING = 50.0
"""The loss at which drawn surfaces are cut off, as in the papers."""
_CLOSE = 1e-3
"""A w1 close to zero, where the sums, by which the product may divide, nearly vanish."""


@dataclass(frozen=True)
class Stack:
    """A product on top of the sum.

    Attributes:
        product: makes the unit for a number of models side by side.
        raw: its parameters for given effective weights, `n x 1 x 2`.
        least: the smallest weight it allows.
    """

    product: Callable[[int], Unit]
    raw: Callable[[Tensor], dict[str, Tensor]]
    least: float = -1.0

    def loss(self, weights: Tensor) -> Tensor:
        """Root of the squared error at pairs of w1 and w2, `n x 2`."""
        count = len(weights)
        # With given weights, NAC and NAU compute the same sum.
        total = NAU(4, 2, batch_shape=(count,), dtype=torch.float64)
        product = self.product(count).eval()
        first, second = weights[:, :1, None], weights[:, 1:, None]
        with torch.no_grad():
            total.weight.copy_(first * torch.tensor(_SUMS, dtype=torch.float64))
            for name, value in self.raw(second.expand(-1, 1, 2)).items():
                product.get_parameter(name).copy_(value)
            x = torch.tensor(INPUT, dtype=torch.float64).expand(count, 1, 4)
            return (product(total(x)) - TARGET).abs().flatten()


def _nac_mul(epsilon: float) -> Stack:
    def product(count: int) -> Unit:
        return NACMul(2, 1, weight="linear", epsilon=epsilon, batch_shape=(count,), dtype=torch.float64)

    return Stack(product, lambda w: {"w_hat": w})


def _real_npu(count: int) -> Unit:
    return RealNPU(2, 1, epsilon=1e-5, batch_shape=(count,), dtype=torch.float64)


def _nru(count: int) -> Unit:
    return NRU(2, 1, batch_shape=(count,), dtype=torch.float64)


def _nmru(count: int) -> Unit:
    return NMRU(2, 1, batch_shape=(count,), dtype=torch.float64)


NAC_STACKS = {f"ε = {epsilon:g}": _nac_mul(epsilon) for epsilon in (1e-7, 0.1, 1.0)}
NAU_STACKS = {
    "NAU-Real NPU": Stack(_real_npu, lambda w: {"weight": w, "gate": torch.ones_like(w[:, 0])}),
    "NAU-NRU": Stack(_nru, lambda w: {"weight": w}),
    # The NMRU multiplies by its first weights and divides by the others.
    "NAU-NMRU": Stack(_nmru, lambda w: {"weight": torch.cat([w, torch.zeros_like(w)], -1)}, least=0.0),
}


def computing(stacks: Mapping[str, Stack]) -> Callable[[Scale], Measured]:
    """The surfaces of some stacks, and the losses that the papers mention."""

    def compute(scale: Scale) -> Measured:
        findings: dict[Key, Finding] = {}
        surfaces = {}
        for name, stack in stacks.items():
            first, second = evenly_spaced(-1, 1, _COUNT), evenly_spaced(stack.least, 1, _COUNT)
            loss = stack.loss(lattice(first, second))
            surfaces[name] = (first, second, loss.reshape(_COUNT, _COUNT))
            findings |= {(name, place, "loss"): exact(value) for place, value in _read_off(stack, loss)}
        return Measured(Findings(findings), data=surfaces)

    return compute


def _read_off(stack: Stack, loss: Tensor) -> Iterable[tuple[str, Tensor]]:
    """Losses by the name of their point."""
    places = {
        "w1 = w2 = 1": (1.0, 1.0),
        "w1 = -1, w2 = 1": (-1.0, 1.0),
        "w1 = 0.001, w2 lowest": (_CLOSE, stack.least),
        "w1 = 0.001, w2 = 0": (_CLOSE, 0.0),
    }
    values = stack.loss(torch.tensor(list(places.values()), dtype=torch.float64))
    yield from zip(places, values)
    yield "highest on the grid", loss.max()


def solves(row: str, place: str = "w1 = w2 = 1") -> Check:
    """The loss there is no more than a small epsilon causes."""
    return lambda f: (f[row, place, "loss"].value or 0) < 1e-3


def explodes(row: str) -> Check:
    """Close to w1 = 0, the loss of dividing is above the target itself, and above that of not dividing."""

    def check(f: Findings) -> bool:
        close, flat = (f[row, f"w1 = 0.001, w2 {at}", "loss"].value or 0 for at in ("lowest", "= 0"))
        return close > TARGET and close > 2 * flat

    return check


def bounded(row: str) -> Check:
    """The loss is nowhere above that of an output of the target's size with the wrong sign.

    A product that does not explode has no output larger than the product of all its inputs.
    """
    return lambda f: max(f[row, p, "loss"].value or 0 for p in f.columns(row, "loss")) <= 2 * TARGET


NAC_CLAIMS = (
    Claim("ε = 1e-07", "w1 = w2 = 1 is a solution", solves("ε = 1e-07")),
    Claim("ε = 1e-07", "the loss explodes where the sums are near zero and w2 is negative",
          explodes("ε = 1e-07")),
    Claim("ε = 0.1", "the loss still explodes with a reasonably large ε", explodes("ε = 0.1")),
    Claim("ε = 1e-07", "is the only one of the three with this solution",
          lambda f: not solves("ε = 0.1")(f) and not solves("ε = 1")(f)),
)  # fmt: skip
NAU_CLAIMS = (
    *(Claim(row, "w1 = w2 = 1 is a solution", solves(row)) for row in NAU_STACKS),
    *(Claim(row, "w1 = -1, w2 = 1 is a solution too", solves(row, "w1 = -1, w2 = 1")) for row in NAU_STACKS),
    Claim("NAU-Real NPU", "the loss explodes", explodes("NAU-Real NPU")),
    Claim("NAU-NRU", "the loss explodes", explodes("NAU-NRU")),
    Claim("NAU-NMRU", "the loss does not explode", bounded("NAU-NMRU")),
)


def drawing(width: float = 4.3) -> Draw:
    """One surface per stack, cut off at 50."""

    def draw(measured: Measured, figure: Figure) -> None:
        figure.set_size_inches(width * len(measured.data), 4.2)
        for k, (name, (first, second, loss)) in enumerate(measured.data.items()):
            axis = figure.add_subplot(1, len(measured.data), k + 1, projection="3d")
            x, y = torch.meshgrid(first, second, indexing="ij")
            height = loss.clamp(max=_CEILING).numpy()
            axis.plot_surface(x.numpy(), y.numpy(), height, cmap="viridis", vmin=0, vmax=_CEILING,
                              rcount=_COUNT, ccount=_COUNT, linewidth=0, antialiased=False)  # fmt: skip
            axis.set_title(name, y=0.94)
            axis.set(xlabel="$w_1$", ylabel="$w_2$", zlim=(0, _CEILING))
            axis.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1) if second.min() < 0 else (0, 0.5, 1))
            axis.set_zlabel("RMS loss")
            axis.view_init(elev=32, azim=-125)
            axis.set_box_aspect(None, zoom=0.9)

    return draw
