r"""Moments of weights, outputs and gradients at initialisation (Madsen & Johansen 2020, appendix B).

Units are drawn by their own initialisers and applied to independent inputs; back comes a gradient of mean 0
and variance 1. Means and variances over 100,000 draws are compared with the closed forms, with H inputs, O
outputs, the variance v of inputs and u of weights:

- NAC weight of raw parameters in (-r, r): :math:`u = (1 - \tanh(r) / r) (r - \tanh(r / 2)) / 2r` (eq. 38);
- NMU: mean :math:`2^{-H}` (56), variance :math:`(u + 1/4)^H (v + 1)^H - 4^{-H}` (58), of the gradient
  :math:`O (u + 1/4)^H (v + 1)^{H - 1}` (68), for inputs of mean 0;
- NAC*, estimates of second order for inputs of mean m, with :math:`l = \ln(|m| + \epsilon)^2`: mean
  :math:`(1 + u l / 2)^H` (44), variance :math:`(1 + 2 u l)^H - (1 + u l / 2)^{2H}` (48), of the gradient
  :math:`O (1 + 2 u l)^H u (1 / m^2 + 3 v / m^4)` (54).

Intervals have three standard errors on each side, so that all of them together hold at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget
from nalm.papers.claims import Claim, Findings, Key
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.recipes.initialisers import gated_product_variance
from nalm.units import NAC, NAU, NMU, NACMul, Unit
from nalm.units.nac_mul import EPSILON

_SAMPLES, _LEAST, _ERRORS = 100_000, 1000, 3.0
_CENTRED = (-math.sqrt(3), math.sqrt(3))
"""Uniform inputs of mean 0 and variance 1."""
_TRAINED = (1.0, 2.0)
"""The training range of the arithmetic dataset."""
_AROUND = (-0.5, 0.5)
"""Inputs of mean 0 for the NAC*."""


def nmu_mean(h: int) -> float:
    """Equation 56."""
    return 0.5**h


def nmu_variance(h: int, u: float, v: float) -> float:
    """Equation 58."""
    return (u + 0.25) ** h * (v + 1) ** h - 0.25**h


def nmu_gradient(h: int, o: int, u: float, v: float) -> float:
    """Equation 68."""
    return o * (u + 0.25) ** h * (v + 1) ** (h - 1)


def nac_weight(r: float) -> float:
    """Equation 38."""
    return (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r)


def nac_mul_mean(h: int, u: float, m: float) -> float:
    """Equation 44."""
    return (1 + u * math.log(abs(m) + EPSILON) ** 2 / 2) ** h


def nac_mul_variance(h: int, u: float, m: float) -> float:
    """Equation 48."""
    return (1 + 2 * u * math.log(abs(m) + EPSILON) ** 2) ** h - nac_mul_mean(h, u, m) ** 2


def nac_mul_gradient(h: int, o: int, u: float, m: float, v: float) -> float:
    """Equation 54."""
    scale = o * (1 + 2 * u * math.log(abs(m) + EPSILON) ** 2) ** h * u
    return scale * (1 / (abs(m) + EPSILON) ** 2 + 3 * v / (abs(m) + EPSILON) ** 4)


def mean_of(x: Tensor) -> Finding:
    """The mean with its interval."""
    n, middle = x.numel(), float(x.mean())
    error = _ERRORS * float(x.std()) / math.sqrt(n)
    return Finding(middle, middle - error, middle + error, n)


def variance_of(x: Tensor) -> Finding:
    """The variance with its interval."""
    return mean_of((x - x.mean()).square())


@dataclass(frozen=True)
class Drawn:
    """A unit at initialisation, drawn many times.

    Attributes:
        make: makes a number of such units.
        size: its inputs and outputs.
        inputs: the range of its inputs; None if only its weights are of interest.
    """

    make: Callable[..., Unit]
    size: tuple[int, int]
    inputs: tuple[float, float] | None = _CENTRED

    def moments(self, samples: int, seed: int) -> dict[str, Finding]:
        """The variance of weights; mean and variance of outputs; the variance of the input's gradient."""
        random = torch.Generator().manual_seed(seed)
        units = self.make(*self.size, batch_shape=(samples,), dtype=torch.float64)
        units.reset_parameters(random)

        # One number per unit: those of one unit share its weights or its inputs, and are not independent.
        return {
            "weight variance": variance_of(next(iter(units.weights().values()))[:, 0, 0].detach()),
            **(self._applied(units, random) if self.inputs else {}),
        }

    def _applied(self, units: Unit, random: torch.Generator) -> dict[str, Finding]:
        assert self.inputs is not None

        def drawn(width: int, low: float, high: float) -> Tensor:
            u = torch.rand(*units.batch_shape, 1, width, generator=random, dtype=torch.float64)
            return low + (high - low) * u

        x = drawn(self.size[0], *self.inputs).requires_grad_()
        y = units(x)
        (slope,) = torch.autograd.grad(y, x, drawn(self.size[1], *_CENTRED))
        return {
            "output mean": mean_of(y[:, 0, 0].detach()),
            "output variance": variance_of(y[:, 0, 0].detach()),
            "gradient variance": variance_of(slope[:, 0, 0]),
        }


def _kept(*sizes: int, **options: Any) -> NMU:
    return NMU(*sizes, input_variance=1.0, **options)


ROWS: dict[str, tuple[Drawn, tuple[str, ...]]] = {
    "NAU, 100 to 2": (Drawn(NAU, (100, 2), None), ("weight variance",)),
    "NAC+, 100 to 2": (Drawn(NAC, (100, 2), None), ("weight variance",)),
    "NAC+, 10 to 1": (Drawn(NAC, (10, 1), None), ("weight variance",)),
    "NMU, 2 to 3": (Drawn(NMU, (2, 3)), ("output mean", "output variance", "gradient variance")),
    "NMU, 4 to 3": (Drawn(NMU, (4, 3)), ("output mean", "output variance", "gradient variance")),
    "NMU, 2 to 1, equation 69": (Drawn(_kept, (2, 1)), ("weight variance", "output variance")),
    "NAC•, 10 to 1": (
        Drawn(NACMul, (10, 1), _TRAINED),
        ("output mean", "output variance", "gradient variance"),
    ),
    "NAC•, 10 to 1, inputs around 0": (Drawn(NACMul, (10, 1), _AROUND), ("gradient variance",)),
}
"""Each row: what is drawn, and which of its moments the appendix is about."""


def compute(scale: Scale) -> Measured:
    """All moments."""
    budget = Budget(scale, quick_steps=0.05)
    samples = budget.steps(_SAMPLES, _LEAST)
    found: dict[Key, Finding] = {}
    for seed, (row, (drawn, columns)) in enumerate(ROWS.items()):
        moments = drawn.moments(samples, seed)
        found.update({(row, column, "value"): moments[column] for column in columns})
    for inputs in (2, 10, 100):
        value = gated_product_variance(inputs, 1.0)
        found[f"equation 69, {inputs} inputs", "weight variance", "value"] = Finding(value, None, None, 1)
    return Measured(Findings(found), budget.fewer_steps(_SAMPLES, "samples", _LEAST))


def _of(f: Findings, row: str, column: str) -> float:
    return f[row, column, "value"].value or 0.0


_AT_ZERO, _AWAY = "NAC•, 10 to 1, inputs around 0", "NAC•, 10 to 1"
CLAIMS = (
    Claim(_AWAY, "the expected output is above 1", lambda f: _of(f, _AWAY, "output mean") > 1),
    Claim(_AT_ZERO, "the variance of its gradient explodes for inputs of mean 0",
          lambda f: _of(f, _AT_ZERO, "gradient variance") > 1e3 * _of(f, _AWAY, "gradient variance")),
    Claim("NMU, 4 to 3", "the expected output is near 0 for more inputs",
          lambda f: 0 < _of(f, "NMU, 4 to 3", "output mean") < _of(f, "NMU, 2 to 3", "output mean")),
    Claim("equation 69", "is 1/4 for a variance of 1 and many inputs",
          lambda f: abs(_of(f, "equation 69, 100 inputs", "weight variance") - 0.25) < 1e-9),
)  # fmt: skip
