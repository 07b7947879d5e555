r"""NAU, the Neural Addition Unit.

.. math:: a_o = \sum_i W_{o,i} x_i, \qquad W \in [-1, 1]

Penalty: mean of :math:`\min(|W|, |1 - |W||)`. Madsen & Johansen 2020, equations 5-7; thesis, equation 2.13.

Deviations: the papers clamp W before use; it is clamped after the optimiser's step (`project_`), which is
the same in training. The papers write W as `in x out`; it is stored as `out x in`, like `nn.Linear`. The
penalty's strength on a single module is the thesis's 10; public scripts use 0.01. `clamp=False` and
`penalised=False` are the ablation of Madsen & Johansen's appendix C.3.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.recipes import Adam, Centred, Ramp, Recipe, UnitPenalty
from nalm.recipes.distances import distance_to_integer_sign
from nalm.recipes.initialisers import half_capped
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import linear


def nau(x: Tensor, weight: Tensor) -> Tensor:
    """Sum of weight * x: x `*batch x n x in`, weight `*batch x out x in`, result `*batch x n x out`."""
    return weighted_sum(x, weight)


class NAU(Unit):
    """Neural Addition Unit: adds and subtracts a learnt selection of its inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        clamp: whether weights are kept in [-1, 1].
        penalised: whether there is a penalty on weights that are not discrete.

    Example:
        >>> unit = nalm.NAU(3, 1)
        >>> unit.ideal_("sub", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[3.]], grad_fn=<...>)
    """

    name = "nau"
    ops = ("add", "sub")
    papers = ("madsen2020",)
    recipes = ("published", "arithmetic", "centred", "arithmetic-centred", "second-order")

    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        clamp: bool = True,
        penalised: bool = True,
        **common: Unpack[Common],
    ) -> None:
        self.clamp, self.penalised = clamp, penalised
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        self.declare(
            "weight", (self.out_features, self.in_features), half_capped(self.in_features, self.out_features)
        )

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nau(x, self.weight)

    def weights(self) -> dict[str, Tensor]:
        """The weight matrix."""
        return {"W": self.weight}

    def penalty(self) -> Tensor:
        """Mean distance of the weights from {-1, 0, 1}."""
        if not self.penalised:
            return super().penalty()
        return distance_to_integer_sign(self.weight).mean((-2, -1))

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp the weights to [-1, 1]."""
        if self.clamp:
            self.weight.clamp_(-1, 1)

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix, clamped to [-1, 1]."""
        self.weight.copy_(weight.clamp(-1, 1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Single module: thesis, table E.1; arithmetic dataset: Madsen & Johansen 2020, table 4.

        With 10 or more inputs, the penalty's window and the steps of the thesis's table 5.1. The centred
        recipes use Adam in centred coordinates.
        """
        optimiser = Centred(Adam()) if name.endswith("centred") else Adam()
        if name.startswith("arithmetic"):
            penalties = (UnitPenalty(0.01, Ramp(5e3, 50e3)),)
            return Recipe(penalties=penalties, optimiser=optimiser, iterations=5_000_000)
        window, iterations = (Ramp(20e3, 35e3), 50_000) if inputs < 10 else (Ramp(50e3, 75e3), 100_000)
        return Recipe(penalties=(UnitPenalty(10.0, window),), optimiser=optimiser, iterations=iterations)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The sum of weight * input for each output."""
        return [linear(row, symbols) for row in values["weight"]]

    def options_repr(self) -> str:
        """The options that differ from the published ones."""
        clamp = "" if self.clamp else ", clamp=False"
        return clamp + ("" if self.penalised else ", penalised=False")
