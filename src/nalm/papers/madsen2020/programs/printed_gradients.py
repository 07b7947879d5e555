"""The gradients that Madsen & Johansen 2020 print in appendix A, beside those of automatic differentiation.

Every function returns the printed gradient of one output of a unit and ours, with respect to the weights or
to the inputs, at weights and inputs drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from nalm.papers.claims import Claim, Findings
from nalm.papers.entry import Measured
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact
from nalm.units import NAC, NMU, NACMul, Unit

Pair = tuple[Tensor, Tensor]
_INPUTS = 4
_CLOSE = 1e-10
"""Relative difference that rounding in float64 may leave."""


def drawn(unit: Unit, seed: int = 0) -> tuple[Unit, Tensor]:
    """The unit with its own initial weights, and inputs of both signs away from zero."""
    random = torch.Generator().manual_seed(seed)
    unit.reset_parameters(random)
    x = torch.rand(1, _INPUTS, generator=random, dtype=torch.float64) + 0.5
    return unit, (x * torch.tensor([1.0, -1.0, 1.0, -1.0])).requires_grad_()


def _raw_pair(name: str) -> Pair:
    """Equation 19: from the gradient of the weight W to those of the raw weights W^ and M^."""
    unit, x = drawn(NAC(_INPUTS, 1, dtype=torch.float64))
    w, m = unit.get_parameter("w_hat"), unit.get_parameter("m_hat")
    of_weight, tanh, sigmoid = x.detach(), torch.tanh(w), torch.sigmoid(m)  # dy / dW is x for a sum
    printed = {
        "w_hat": of_weight * (1 - tanh**2) * sigmoid,
        "m_hat": of_weight * tanh * sigmoid * (1 - sigmoid),
    }
    (ours,) = torch.autograd.grad(unit(x).sum(), unit.get_parameter(name))
    return printed[name].detach(), ours


def nac_mul_weight() -> Pair:
    """Equation 21: z log(|x| + epsilon)."""
    unit, x = drawn(NACMul(_INPUTS, 1, weight="linear", dtype=torch.float64))
    assert isinstance(unit, NACMul)
    z = unit(x)
    (ours,) = torch.autograd.grad(z.sum(), unit.w_hat)
    return (z * torch.log(x.abs() + unit.epsilon)).detach(), ours


def nac_mul_input() -> Pair:
    """Equation 24: z W sign(x) / (|x| + epsilon)."""
    unit, x = drawn(NACMul(_INPUTS, 1, dtype=torch.float64))
    assert isinstance(unit, NACMul)
    z = unit(x)
    (ours,) = torch.autograd.grad(z.sum(), x)
    return (z * unit.weights()["W"] * x.sign() / (x.abs() + unit.epsilon)).detach(), ours


def _nmu_pair(of: str) -> Pair:
    """Equations 26 and 27: z / (W x + 1 - W), times x - 1 for the weight and W for the input."""
    unit, x = drawn(NMU(_INPUTS, 1, dtype=torch.float64))
    weight = unit.get_parameter("weight")
    z = unit(x)
    others = z / (weight * x + 1 - weight)
    (ours,) = torch.autograd.grad(z.sum(), weight if of == "weight" else x)
    return (others * (x - 1 if of == "weight" else weight)).detach(), ours


PAIRS: Mapping[tuple[str, str], Callable[[], Pair]] = {
    ("NAC+", "equation 19, W^"): lambda: _raw_pair("w_hat"),
    ("NAC+", "equation 19, M^"): lambda: _raw_pair("m_hat"),
    ("NAC•", "equation 21, W"): nac_mul_weight,
    ("NAC•", "equation 24, input"): nac_mul_input,
    ("NMU", "equation 26, W"): lambda: _nmu_pair("weight"),
    ("NMU", "equation 27, input"): lambda: _nmu_pair("input"),
}


def difference(pair: Pair) -> Tensor:
    """The largest difference, relative to the largest entry of ours."""
    printed, ours = pair
    return (printed - ours).abs().max() / ours.abs().max()


def computing(pairs: Mapping[tuple[str, str], Callable[[], Pair]]) -> Callable[[Scale], Measured]:
    """A program that compares each printed gradient with ours."""

    def compute(scale: Scale) -> Measured:
        found = {
            (row, column, "difference"): exact(difference(make())) for (row, column), make in pairs.items()
        }
        return Measured(Findings(found))

    return compute


def claims_of(pairs: Mapping[tuple[str, str], Callable[[], Pair]]) -> tuple[Claim, ...]:
    """That each printed gradient is the gradient."""

    def claim(row: str, column: str) -> Claim:
        key = (row, column, "difference")
        return Claim(row, f"{column} is the gradient", lambda f: (f[key].value or 0.0) < _CLOSE)

    return tuple(claim(*place) for place in pairs)
