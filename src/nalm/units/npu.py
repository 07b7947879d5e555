r"""NPU, the Neural Power Unit.

.. math::
    y_o = \exp\Big(\sum_i W^{re}_{o,i} \ln r_i - \sum_i W^{im}_{o,i} k_i\Big)
          \cos\Big(\sum_i W^{im}_{o,i} \ln r_i + \sum_i W^{re}_{o,i} k_i\Big)

with :math:`r` and :math:`k` of the RealNPU: the real part of a product of complex powers. Heim et al. 2020;
thesis, equations 2.17-2.20, derivation in its appendix C.3. `relevance=False` is the NaiveNPU.

Deviations: none. The recipe "modified" is the RealNPU's, with unconstrained imaginary weights; "constrained"
also clips them to [-1, 1] and drives them to 0 by an L1 penalty in the same window as the other penalties
(thesis, appendix G.5, which gives no strength; it is 1, times the sum).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.recipes import L1, Bound, Discretise, Recipe
from nalm.recipes.initialisers import Constant
from nalm.units._functional import weighted_sum
from nalm.units.real_npu import EPSILON, RealNPU, angles, gated_powers, log_sum, powers


def npu(
    x: Tensor, weight: Tensor, imaginary: Tensor, gate: Tensor | None, epsilon: float = EPSILON
) -> Tensor:
    """Real part of a product of complex powers: x `*batch x n x in`, weights `*batch x out x in`."""
    negative = (x < 0).to(x.dtype)
    size = log_sum(x, weight, gate, epsilon) - weighted_sum(negative, angles(imaginary, gate))
    phase = log_sum(x, imaginary, gate, epsilon) + weighted_sum(negative, angles(weight, gate))
    return torch.exp(size) * torch.cos(phase)


class NPU(RealNPU):
    """Neural Power Unit: real parts of products of complex powers of its relevant inputs.

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
        >>> unit = nalm.NPU(3, 1)
        >>> unit.ideal_("div", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-2.5000]], grad_fn=<...>)
    """

    name = "npu"
    recipes = ("published", "modified", "modified-zero", "constrained", "second-order")

    imaginary: Tensor

    def build(self) -> None:
        """Declare the parameters."""
        super().build()
        self.declare("imaginary", (self.out_features, self.in_features), Constant(0.0))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return npu(x, self.weight, self.imaginary, self.clipped_gate(), self.epsilon)

    def weights(self) -> dict[str, Tensor]:
        """The matrices of powers, real and imaginary."""
        return {"W": self.weight, "W_im": self.imaginary}

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the powers to whole numbers and halves, and the gates to {0, 1}."""
        super().snap_()
        self.imaginary.copy_((2 * self.imaginary).round() / 2)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set these real powers, and open the gates of the inputs that any output uses."""
        super().select_(weight)
        self.imaginary.zero_()

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The RealNPU's recipes; "constrained" is from the thesis's appendix G.5."""
        if name != "constrained":
            return super().make_recipe(op, name, inputs)
        modified = super().make_recipe(op, "modified", inputs)
        window = next(part.schedule for part in modified.penalties if isinstance(part, Discretise))
        return replace(
            modified,
            penalties=(*modified.penalties, L1(1.0, window, parameter="imaginary")),
            clamps=(*modified.clamps, Bound("imaginary", -1.0, 1.0, unit=cls.name)),
        )

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The product of powers for each output, with the full equation wherever a power is complex."""
        gate = np.clip(values["gate"], 0, 1) if self.relevance else np.ones(self.in_features)
        whole = idealised and np.isin(gate, (0, 1)).all()
        epsilon = 0.0 if idealised else self.epsilon
        return [
            powers(re * gate, symbols)
            if whole and not (im * gate).any()
            else gated_powers(re, im, gate, symbols, epsilon)
            for re, im in zip(values["weight"], values["imaginary"])
        ]
