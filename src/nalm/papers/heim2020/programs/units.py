"""Units that Heim et al. 2020 compare in another form than the units' own papers define."""

from __future__ import annotations

import torch
from torch import Tensor

from nalm.recipes.initialisers import Uniform, xavier_uniform
from nalm.units import INALU, NMU
from nalm.units._functional import weighted_sum
from nalm.units.inac_mul import inac_mul
from nalm.units.nmu import nmu


class ForwardClippedNMU(NMU):
    """The NMU with weights that start from U(0, 1) and are clipped to [0, 1] in the forward pass."""

    name = "forward-clipped-nmu"

    def build(self) -> None:
        """Declare the parameters."""
        self.declare("weight", (self.out_features, self.in_features), Uniform(0.0, 1.0))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nmu(x, self.weight.clamp(0, 1))

    def project_(self) -> None:
        """Does nothing: the equation itself clips."""


class InputGatedINALU(INALU):
    """The iNALU with a gate that depends on the input, as in the NALU: sigmoid(G x)."""

    name = "input-gated-inalu"

    def build(self) -> None:
        """Declare the parameters, all by Xavier's uniform scheme."""
        initial = xavier_uniform(self.in_features, self.out_features)
        for raw in ("w_hat", "m_hat", "w_hat_mul", "m_hat_mul", "gate"):
            self.declare(raw, (self.out_features, self.in_features), initial)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        weights, g = self.weights(), torch.sigmoid(weighted_sum(x, self.gate))
        return g * weighted_sum(x, weights["W"]) + (1 - g) * inac_mul(x, weights["W_mul"])

    def gates(self) -> dict[str, Tensor]:
        """None: the gate has no value without an input."""
        return {}
