r"""Gated NAU/NMU: the NALU's gate between a NAU and an NMU.

.. math:: y_o = g_o \sum_i W^a_{o,i} x_i + (1 - g_o) \prod_i (W^m_{o,i} x_i + 1 - W^m_{o,i}), \qquad
          g_o = \sigma\Big(\sum_i G_{o,i} x_i\Big), \quad W^a \in [-1, 1],\ W^m \in [0, 1]

Penalty: those of NAU and NMU together. Madsen & Johansen 2020, appendix C.5, who show that it fails.

The gate depends on the input: the ideal weights and the formula are for positive inputs.

Deviations: table 4 of the paper gives no penalty for it. Its recipe is that of the NMU for products and that
of the NAU for sums. The public program has the NMU's for all operations, and so have the ledger's entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.recipes import Recipe
from nalm.recipes.distances import distance_to_bit, distance_to_integer_sign
from nalm.recipes.initialisers import Uniform, half_capped, xavier_uniform
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._product import gated_product
from nalm.units._symbolic import linear
from nalm.units.nalu import OPEN, decided, gate_expression, opened, read_gate
from nalm.units.nau import NAU
from nalm.units.nmu import NMU, gated_factors


def gated_nau_nmu(x: Tensor, add_weight: Tensor, mul_weight: Tensor, gate: Tensor) -> Tensor:
    """Gated sum of both paths: x `*batch x n x in`, weights and gate `*batch x out x in`."""
    g = torch.sigmoid(weighted_sum(x, gate))
    return g * weighted_sum(x, add_weight) + (1 - g) * gated_product(x, mul_weight)


class GatedNAUNMU(Unit):
    """A gate computed from the input chooses between a NAU and an NMU with separate weights.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.

    Example:
        >>> unit = nalm.GatedNAUNMU(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "gated-nau-nmu"
    ops = ("add", "sub", "mul")
    positive = True
    papers = ("madsen2020",)
    recipes = ("published", "arithmetic")
    reading = "for positive inputs"

    add_weight: Tensor
    mul_weight: Tensor
    gate: Tensor

    def build(self) -> None:
        """Declare the parameters."""
        sizes = (self.in_features, self.out_features)
        self.declare("add_weight", sizes[::-1], half_capped(*sizes))
        self.declare("mul_weight", sizes[::-1], Uniform(0.25, 0.75))
        self.declare("gate", sizes[::-1], xavier_uniform(*sizes))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return gated_nau_nmu(x, self.add_weight, self.mul_weight, self.gate)

    def weights(self) -> dict[str, Tensor]:
        """The weights of sum and product. The gate depends on the input and is not among them."""
        return {"W": self.add_weight, "W_mul": self.mul_weight}

    def penalty(self) -> Tensor:
        """Mean distance of the sum's weights from {-1, 0, 1}, plus that of the product's from {0, 1}."""
        add, mul = distance_to_integer_sign(self.add_weight), distance_to_bit(self.mul_weight)
        return add.mean((-2, -1)) + mul.mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp the weights to [-1, 1] and [0, 1]."""
        self.add_weight.clamp_(-1, 1)
        self.mul_weight.clamp_(0, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix for both paths, clamped to the bounds of each."""
        self.add_weight.copy_(weight.clamp(-1, 1))
        self.mul_weight.copy_(weight.clamp(0, 1))

    @torch.no_grad()
    def snap_(self) -> None:
        """Round the weights of both paths; the gate depends on the input and is not changed."""
        self.add_weight.copy_(self.add_weight.clamp(-1, 1).round())
        self.mul_weight.copy_(self.mul_weight.clamp(0, 1).round())

    def decisive_mask(self) -> dict[str, Tensor]:
        """The weights of the path that the gate opens for positive inputs."""
        sums, products = opened(self.gate)
        return {"W": sums.expand_as(self.gate), "W_mul": products.expand_as(self.gate)}

    def readable(self) -> bool:
        """Whether the gate is open or closed for all positive inputs."""
        rows = self.gate.detach().reshape(-1, self.in_features).cpu().double().numpy()
        return all(read_gate(row) is not None for row in rows)

    def holds(self, x: Tensor) -> Tensor:
        """Rows of positive inputs that fully open or close the gate."""
        return decided(x, self.gate)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """1 on input i, 1 or -1 on input j, and a gate that is right for positive inputs."""
        super().set_ideal_(op, i, j)
        self.gate.fill_(-OPEN if op == "mul" else OPEN)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The NMU's recipe for products, the NAU's for sums."""
        return (NMU if op == "mul" else NAU).make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The gated sum for each output; if idealised, a saturated gate is read for positive inputs."""
        outputs = []
        for a, m, g in zip(values["add_weight"], values["mul_weight"], values["gate"]):
            gate = gate_expression(g, symbols, idealised)
            outputs.append(gate * linear(a, symbols) + (1 - gate) * gated_factors(m, symbols))
        return outputs
