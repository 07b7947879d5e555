"""How accurate a second-order estimate of the mean output of the multiplicative NAC is.

For one input, with W from U[-r_w, r_w] and z from U[0, r_z], the estimate is
1 + Var[W] ln(|E[z]| + epsilon)^2 / 2 (Madsen & Johansen 2020, appendix B.3.1, equation 43); figure 5 shows
its difference from the mean of 100,000 samples. The text gives neither the range of r_w nor epsilon. Here
epsilon is 1e-7, and r_w goes up to 1/2, where the error is about the lowest of the figure's colours: the
lowest error is therefore not a test.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nalm.papers.budget import Budget
from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.papers.shared.points import evenly_spaced
from nalm.streams import Purpose, counters, key, uniform
from nalm.units.nac_mul import EPSILON, power_product

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES, _LEAST = 100_000, 100
_WEIGHT, _INPUT = evenly_spaced(0.02, 0.5, 25), evenly_spaced(2, 50, 25)
_ROW = "estimate"


def estimate(r_w: Tensor, r_z: Tensor) -> Tensor:
    """Equation 43: Var[W] = r_w^2 / 3 and E[z] = r_z / 2."""
    return 1 + (r_w.square() / 3) * torch.log(r_z / 2 + EPSILON).square() / 2


def sampled(r_w: float, r_z: float, samples: int, part: int) -> tuple[Tensor, Tensor]:
    """Mean output of the unit over samples of weight and input, and its standard error."""
    stream = key(torch.zeros(1, dtype=torch.int32), Purpose.DATA, part)
    u = uniform(stream, counters(2 * samples), torch.float64).reshape(2, samples, 1, 1)
    outputs = power_product(r_z * u[1], r_w * (2 * u[0] - 1), EPSILON)
    return outputs.mean(), outputs.std() / math.sqrt(samples)


def compute(scale: Scale) -> Measured:
    """The error of the estimate on a grid of both ranges."""
    budget = Budget(scale, quick_steps=0.05)
    samples = budget.steps(_SAMPLES, _LEAST)
    r_w, r_z = torch.meshgrid(_WEIGHT, _INPUT, indexing="ij")
    pairs = enumerate(zip(r_w.flatten().tolist(), r_z.flatten().tolist()))
    drawn = [sampled(w, z, samples, part) for part, (w, z) in pairs]
    mean, deviation = (torch.stack(each).reshape(r_w.shape) for each in zip(*drawn))
    error = estimate(r_w, r_z) - mean
    # Of 625 means, some are two or three standard errors too low by chance alone.
    below = (mean + 4 * deviation < 1).double().mean()
    findings = {
        (_ROW, "lowest error", "error"): exact(error.min()),
        (_ROW, "highest error", "error"): exact(error.max()),
        (_ROW, "least estimate", "error"): exact(estimate(r_w, r_z).min()),
        ("sampled mean", "share surely below 1", "error"): exact(below),
    }
    return Measured(Findings(findings), budget.fewer_steps(_SAMPLES, "samples", _LEAST), error)


CLAIMS = (
    Claim(_ROW, "the expected output is above 1, so that it cannot be initialised to 0",
          lambda f: (f[_ROW, "least estimate", "error"].value or 0) >= 1),
    Claim("sampled mean", "the expected output is above 1, so that it cannot be initialised to 0",
          lambda f: f["sampled mean", "share surely below 1", "error"].value == 0),
)  # fmt: skip


def draw(measured: Measured, figure: Figure) -> None:
    """The error as colours."""
    figure.set_size_inches(5.2, 4.0)
    axis = figure.subplots()
    image = axis.pcolormesh(_WEIGHT, _INPUT, measured.data.T, cmap="viridis", shading="nearest")
    axis.set(xlabel="$r_w$", ylabel="$r_z$", title="Estimated less sampled mean")
    figure.colorbar(image, label="error")
