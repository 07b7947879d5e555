r"""iNALU, the improved Neural Arithmetic Logic Unit.

.. math:: y_o = \sigma(g_o) a_o + (1 - \sigma(g_o)) m_o

with :math:`a` of the iNAC, :math:`m` of the iMNAC with its sign, independent weights for both and a gate
that does not depend on the input. Schlör et al. 2020; thesis, equations 2.6-2.12.

Deviations: initial values, penalty and recipes are those of the iNAC; `arithmetic` is not published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.units._functional import weighted_sum
from nalm.units._symbolic import linear, number
from nalm.units.inac import INAC, INITIAL, saturation_penalty
from nalm.units.inac_mul import INACMul, capped_powers, inac_mul, within_cap
from nalm.units.nac import SATURATED, effective, nac_weight, saturate_


def inalu(x: Tensor, add_weight: Tensor, mul_weight: Tensor, gate: Tensor) -> Tensor:
    """Gated sum of both paths: x `*batch x n x in`, weights `*batch x out x in`, gate `*batch x out`."""
    g = gate[..., None, :]
    return g * weighted_sum(x, add_weight) + (1 - g) * inac_mul(x, mul_weight)


class INALU(INAC):
    """Improved NALU: independent weights, sign, clipping, and a gate that does not depend on the input.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        initial: "benchmark" or "authors", where the initial weights come from.

    Example:
        >>> unit = nalm.INALU(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[-5.0, 100.0, 2.0]])).round(decimals=3)
        tensor([[-10.]], grad_fn=<...>)
    """

    name = "inalu"
    ops = ("add", "sub", "mul", "div", "reciprocal")
    unary = ("reciprocal",)
    largest = INACMul.largest

    w_hat_mul: Tensor
    m_hat_mul: Tensor
    gate: Tensor

    @property
    def reading(self) -> str:  # type: ignore[override]
        """The formula of a product holds within the cap."""
        return "" if bool((self.gate > 0).all()) else INACMul.reading

    def holds(self, x: Tensor) -> Tensor:
        """Rows whose products are within the cap, if there are products."""
        return within_cap(x, self.weights()["W_mul"]) if self.reading else super().holds(x)

    def build(self) -> None:
        """Declare the parameters."""
        super().build()
        for raw in ("w_hat", "m_hat"):
            self.declare(f"{raw}_mul", (self.out_features, self.in_features), INITIAL[self.initial][raw])
        self.declare("gate", (self.out_features,), INITIAL[self.initial]["gate"])

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weights = self.weights()
        return inalu(x, weights["W"], weights["W_mul"], torch.sigmoid(self.gate))

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrices of sum and product."""
        mul = nac_weight(self.w_hat_mul, self.m_hat_mul)
        return {"W": nac_weight(self.w_hat, self.m_hat), "W_mul": mul}

    def gates(self) -> dict[str, Tensor]:
        """1 where an output is the sum, 0 where it is the product."""
        return {"g": torch.sigmoid(self.gate)}

    def penalty(self) -> Tensor:
        """How far the raw weights and gates are from saturation."""
        raw = (self.w_hat, self.m_hat, self.w_hat_mul, self.m_hat_mul, self.gate)
        return saturation_penalty(raw, len(self.batch_shape))

    def decisive_mask(self) -> dict[str, Tensor]:
        """The weights of the path that the gate opens."""
        sums = (self.gate > 0)[..., None]
        return {"W": sums.expand_as(self.w_hat), "W_mul": (~sums).expand_as(self.w_hat)}

    def select_(self, weight: Tensor) -> None:
        """Saturate the raw weights of both paths so that the effective weights are these of {-1, 0, 1}."""
        super().select_(weight)
        saturate_(self.w_hat_mul, self.m_hat_mul, weight)

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the effective weights to {-1, 0, 1} and the gates to {0, 1}."""
        weights = self.weights()
        saturate_(self.w_hat, self.m_hat, weights["W"].round())
        saturate_(self.w_hat_mul, self.m_hat_mul, weights["W_mul"].round())
        self.gate.copy_(torch.where(self.gate > 0, SATURATED, -SATURATED))

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """1 on input i, 1 or -1 on input j, and the gate open for sums."""
        super().set_ideal_(op, i, j)
        self.gate.fill_(SATURATED if op in ("add", "sub") else -SATURATED)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The gated sum for each output; if idealised, only the path that the gate chooses."""
        add = effective(values["w_hat"], values["m_hat"])
        mul = effective(values["w_hat_mul"], values["m_hat_mul"])
        gates = torch.sigmoid(torch.from_numpy(np.asarray(values["gate"]))).numpy()
        outputs = []
        for a, m, g in zip(add, mul, gates.round() if idealised else gates):
            total = number(g) * linear(a, symbols)
            outputs.append(total + number(1 - g) * capped_powers(m, symbols, idealised))
        return outputs
