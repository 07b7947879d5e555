r"""RealNPU, the Real Neural Power Unit.

.. math::
    y_o = \exp\Big(\sum_i W_{o,i} \ln r_i\Big) \cos\Big(\sum_i W_{o,i} k_i\Big), \qquad
    r_i = g_i (|x_i| + \epsilon) + 1 - g_i, \qquad k_i = \pi g_i [x_i < 0], \qquad g_i \in [0, 1]

Heim et al. 2020; thesis, equations 2.18-2.21. Epsilon is float32's machine epsilon, so at ideal weights the
relative error is about :math:`\sum_i W_i \epsilon / |x_i|`.

The gate is clipped in the equation. With `gate_gradient="clip"` the clip has zero gradient outside [0, 1]
(used for the thesis's numbers); with "straight-through" the gradient passes (the authors' own code).
Without the relevance gate (`relevance=False`, all :math:`g_i = 1`) it is the real part of the NaiveNPU.

Deviations: none. The recipe "published" is the unmodified RealNPU of the thesis; for division it uses the
penalty of table E.5 (chapter 5), although table E.2 (chapter 3) gives that of multiplication. The recipe
"modified" is from the thesis's section 5.4: the initialisation of the NAU, weights and gates clipped after
the step, and both driven to discrete values, with the L1 penalty of table E.5 for both operations;
"modified-zero" also lets weights go to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_above_zero, check_choice
from nalm.recipes import L1, Adam, Bound, Discretise, Growth, Initialise, Project, Ramp, Recipe
from nalm.recipes.initialisers import Constant, xavier_uniform
from nalm.units._base import Unit
from nalm.units._functional import cosine_of_sum, weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import magnitude, number

_BOUNDS = (("weight", -1.0, 1.0), ("gate", 0.0, 1.0))
EPSILON = float(torch.finfo(torch.float32).eps)


def real_npu(x: Tensor, weight: Tensor, gate: Tensor | None, epsilon: float = EPSILON) -> Tensor:
    """Product of powers with sign: x `*batch x n x in`, weight `*batch x out x in`, gate `*batch x in`."""
    return torch.exp(log_sum(x, weight, gate, epsilon)) * cosine_of_sum(x < 0, angles(weight, gate))


def log_sum(x: Tensor, weight: Tensor, gate: Tensor | None, epsilon: float) -> Tensor:
    """Sum of weight * ln r, with r = |x| + epsilon where there is no gate."""
    if gate is None:
        return weighted_sum(x, weight, lambda x: torch.log(x.abs() + epsilon))
    return weighted_sum(x, weight, lambda x, g: torch.log(g * (x.abs() + epsilon) + (1 - g)), gate)


def angles(weight: Tensor, gate: Tensor | None) -> Tensor:
    """What a negative input adds to the argument of the cosine, `*batch x out x in`."""
    return math.pi * weight if gate is None else weight * (math.pi * gate[..., None, :])


class RealNPU(Unit):
    """Real Neural Power Unit: products of real powers of its relevant inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        relevance: whether there is a relevance gate.
        gate_gradient: "clip" or "straight-through", the gradient of the gate's clip outside [0, 1].
        epsilon: added to the magnitudes, so that their logarithm is finite.

    Example:
        >>> unit = nalm.RealNPU(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "realnpu"
    ops = ("mul", "div", "reciprocal")
    unary = ("reciprocal",)
    papers = ("heim2020", "mistry2023")
    recipes: ClassVar[tuple[str, ...]] = ("published", "modified", "modified-zero", "second-order")

    weight: Tensor
    gate: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        relevance: bool = True,
        gate_gradient: str = "clip",
        epsilon: float = EPSILON,
        **common: Unpack[Common],
    ) -> None:
        self.relevance = relevance
        self.gate_gradient = check_choice("gate_gradient", gate_gradient, ("clip", "straight-through"))
        self.epsilon = check_above_zero("epsilon", epsilon)
        super().__init__(in_features, out_features, **common)

    @property
    def reading(self) -> str:  # type: ignore[override]
        """The formula of powers that are not whole holds for positive inputs."""
        weight = self.weight.detach()
        return "" if bool((weight == weight.round()).all()) else "for positive inputs"

    def build(self) -> None:
        """Declare the parameters."""
        shape = (self.out_features, self.in_features)
        self.declare("weight", shape, xavier_uniform(self.in_features, self.out_features))
        if self.relevance:
            self.declare("gate", (self.in_features,), Constant(0.5))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return real_npu(x, self.weight, self.clipped_gate(), self.epsilon)

    def clipped_gate(self) -> Tensor | None:
        """The gate in [0, 1], shape `*batch_shape x in`; None if there is none."""
        if not self.relevance:
            return None
        clipped = self.gate.clamp(0, 1)
        if self.gate_gradient == "straight-through":
            return self.gate + (clipped - self.gate).detach()
        return clipped

    def weights(self) -> dict[str, Tensor]:
        """The matrix of powers."""
        return {"W": self.weight}

    def gates(self) -> dict[str, Tensor]:
        """The relevance of each input."""
        gate = self.clipped_gate()
        return {} if gate is None else {"g": gate}

    def decisive_mask(self) -> dict[str, Tensor]:
        """Powers of inputs whose gate is open, and gates of inputs with a power."""
        if not self.relevance:
            return {}
        used = (torch.stack(list(self.weights().values())) != 0).any(0).any(-2)
        open_ = (self.gate > 0)[..., None, :]
        return {"g": used, **{name: open_.expand_as(weight) for name, weight in self.weights().items()}}

    def penalty(self) -> Tensor:
        """Mean absolute value of all parameters. (The published recipe uses their sum: see `L1`.)"""
        lead = len(self.batch_shape)
        held = [getattr(self, name) for name in self.initialisers]
        return torch.cat([tensor.flatten(lead) for tensor in held], -1).abs().mean(-1)

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the powers to whole numbers and halves, and the gates to {0, 1}."""
        self.weight.copy_((2 * self.weight).round() / 2)
        if self.relevance:
            self.gate.copy_(self.gate.clamp(0, 1).round())

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set these powers, and open the gates of the inputs that any output uses."""
        self.weight.copy_(weight)
        if self.relevance:
            self.gate.copy_((weight != 0).any(-2))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Thesis, tables E.2 (multiplication) and E.5 (division), and section 5.4 (modified)."""
        iterations = 50_000 if inputs < 10 else 100_000
        if name == "published":
            growth = Growth(1e-7, 1e-5) if op == "mul" else Growth(1e-9, 1e-7)
            return Recipe(optimiser=Adam(5e-3), penalties=(L1(1.0, growth),), iterations=iterations)
        window = Ramp(40e3, 50e3) if inputs < 10 else Ramp(50e3, 75e3)
        return Recipe(
            initialise=(Initialise("weight", "nau", unit=cls.name),),
            penalties=(
                L1(1.0, Growth(1e-9, 1e-7)),
                Discretise(
                    1.0, window, values="-1,1" if name == "modified" else "-1,0,1", of="W", unit=cls.name
                ),
                Discretise(1.0, window, values="0,1", of="gates", unit=cls.name),
            ),
            optimiser=Adam(5e-3),
            clamps=(Project(), *(Bound(*bound, unit=cls.name) for bound in _BOUNDS)),
            iterations=iterations,
        )

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers for each output."""
        gate = np.clip(values["gate"], 0, 1) if self.relevance else np.ones(self.in_features)
        if idealised and np.isin(gate, (0, 1)).all():
            return [powers(row * gate, symbols) for row in values["weight"]]
        epsilon = 0.0 if idealised else self.epsilon
        return [gated_powers(row, 0 * row, gate, symbols, epsilon) for row in values["weight"]]

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        relevance = "" if self.relevance else ", relevance=False"
        gradient = "" if self.gate_gradient == "clip" else f", gate_gradient={self.gate_gradient!r}"
        return relevance + gradient + ("" if self.epsilon == EPSILON else f", epsilon={self.epsilon}")


def powers(weights: np.ndarray, symbols: Sequence[Any]) -> Any:
    """Product of symbol ** weight."""
    import sympy as sp

    return sp.Mul(*(s ** number(w) for w, s in zip(weights, symbols)))


def gated_powers(
    weights: np.ndarray, imaginary: np.ndarray, gate: np.ndarray, symbols: Sequence[Any], epsilon: float
) -> Any:
    """The symbolic form for one output, in full."""
    import sympy as sp

    size, angle = sp.Integer(1), sp.Integer(0)
    for w, v, g, s in zip(weights, imaginary, gate, symbols):
        r = number(g) * magnitude(s, epsilon) + number(1 - g)
        # A term that is k for negative and 0 for other inputs, without a special case at zero.
        k = sp.pi * number(g) * sp.Piecewise((1, s < 0), (0, True))
        size *= r ** number(w) * (sp.exp(-number(v) * k) if v else 1)
        angle += number(w) * k + (number(v) * sp.log(r) if v else 0)
    return size * sp.cos(angle)
