r"""RealNPU, the Real Neural Power Unit.

.. math::
    y_o = \exp\Big(\sum_i W_{o,i} \ln r_i\Big) \cos\Big(\sum_i W_{o,i} k_i\Big), \qquad
    r_i = g_i (|x_i| + \epsilon) + 1 - g_i, \qquad k_i = \pi g_i [x_i < 0], \qquad g_i \in [0, 1]

Heim et al. 2020; thesis, equations 2.18-2.21. Epsilon is float32's machine epsilon, so at ideal weights the
relative error is about :math:`\sum_i W_i \epsilon / |x_i|`.

The gate is clipped in the equation. With `gate_gradient="clip"` the clip has the gradient zero outside
[0, 1] (used for the thesis's numbers); with "straight-through" the gradient passes (the authors' own code).

Deviations: none. The recipe "published" is the unmodified RealNPU of the thesis; for division it takes the
penalty of table E.5 (chapter 5), where table E.2 (chapter 3) has that of multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_choice, check_epsilon
from nalm.training.recipe import L1, Adam, Growth, Recipe
from nalm.units._base import Unit
from nalm.units._functional import cosine_of_sum, weighted_sum
from nalm.units._initialisers import Constant, xavier_uniform
from nalm.units._symbolic import magnitude, number

EPSILON = float(torch.finfo(torch.float32).eps)


def real_npu(x: Tensor, weight: Tensor, gate: Tensor, epsilon: float = EPSILON) -> Tensor:
    """Product of powers with sign: x `*batch x n x in`, weight `*batch x out x in`, gate `*batch x in`."""

    def log_r(x: Tensor, g: Tensor) -> Tensor:
        return torch.log(g * (x.abs() + epsilon) + (1 - g))

    sign = cosine_of_sum(x < 0, weight * (math.pi * gate[..., None, :]))
    return torch.exp(weighted_sum(x, weight, log_r, gate)) * sign


class RealNPU(Unit):
    """Real Neural Power Unit: products of real powers of its relevant inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        gate_gradient: "clip" or "straight-through", the gradient of the gate's clip outside [0, 1].
        epsilon: added to the magnitudes, so that their logarithm is finite.

    Example:
        >>> unit = nalm.RealNPU(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "realnpu"
    ops = ("mul", "div")
    papers = ("heim2020", "mistry2023")

    weight: Tensor
    gate: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        batch_shape: Sequence[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        gate_gradient: str = "clip",
        epsilon: float = EPSILON,
    ) -> None:
        self.gate_gradient = check_choice("gate_gradient", gate_gradient, ("clip", "straight-through"))
        self.epsilon = check_epsilon(epsilon)
        super().__init__(in_features, out_features, batch_shape=batch_shape, device=device, dtype=dtype)

    def build(self) -> None:
        """Declare the parameters."""
        shape = (self.out_features, self.in_features)
        self.declare("weight", shape, xavier_uniform(self.in_features, self.out_features))
        self.declare("gate", (self.in_features,), Constant(0.5))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return real_npu(x, self.weight, self.clipped_gate(), self.epsilon)

    def clipped_gate(self) -> Tensor:
        """The gate in [0, 1], shape `*batch_shape x in`."""
        clipped = self.gate.clamp(0, 1)
        if self.gate_gradient == "straight-through":
            return self.gate + (clipped - self.gate).detach()
        return clipped

    def weights(self) -> dict[str, Tensor]:
        """The matrix of powers."""
        return {"W": self.weight}

    def gates(self) -> dict[str, Tensor]:
        """The relevance of each input."""
        return {"g": self.clipped_gate()}

    def penalty(self) -> Tensor:
        """Mean absolute value of all parameters. (The published recipe uses their sum: see `L1`.)"""
        both = torch.cat([self.weight.flatten(-2), self.gate], -1)
        return both.abs().mean(-1)

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the powers to whole numbers and halves, and the gates to {0, 1}."""
        self.weight.copy_((2 * self.weight).round() / 2)
        self.gate.copy_(self.gate.clamp(0, 1).round())

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Take these powers, and open the gates of the inputs that any output uses."""
        self.weight.copy_(weight)
        self.gate.copy_((weight != 0).any(-2))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, tables E.2 (multiplication) and E.5 (division)."""
        growth = Growth(1e-7, 1e-5) if op == "mul" else Growth(1e-9, 1e-7)
        return Recipe(
            optimiser=Adam(5e-3),
            penalties=(L1(1.0, growth),),
            iterations=50_000 if inputs < 10 else 100_000,
        )

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers for each output."""
        gate = np.clip(values["gate"], 0, 1)
        if idealised and np.isin(gate, (0, 1)).all():
            return [signed_powers(row * gate, symbols) for row in values["weight"]]
        epsilon = 0.0 if idealised else self.epsilon
        return [_gated_powers(row, gate, symbols, epsilon) for row in values["weight"]]

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        gradient = "" if self.gate_gradient == "clip" else f", gate_gradient={self.gate_gradient!r}"
        return gradient + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")


def signed_powers(weights: np.ndarray, symbols: Sequence[Any]) -> Any:
    """Product of symbol ** weight; the real part, for powers that are not whole, of negative inputs."""
    import sympy as sp

    if (weights == np.round(weights)).all():
        return sp.Mul(*(s ** number(w) for w, s in zip(weights, symbols)))
    return _gated_powers(weights, np.ones_like(weights), symbols, 0.0)


def _gated_powers(weights: np.ndarray, gate: np.ndarray, symbols: Sequence[Any], epsilon: float) -> Any:
    import sympy as sp

    size, angle = sp.Integer(1), sp.Integer(0)
    for w, g, s in zip(weights, gate, symbols):
        size *= (number(g) * magnitude(s, epsilon) + number(1 - g)) ** number(w)
        # A sum that is 1 for negative and 0 for other inputs, without a special case at zero.
        angle += sp.pi * number(w) * number(g) * sp.Piecewise((1, s < 0), (0, True))
    return size * sp.cos(angle)
