r"""iNAC, the sum of the iNALU as a separate unit.

.. math:: W = \tanh(\hat W) \odot \sigma(\hat M), \qquad a_o = \sum_i W_{o,i} x_i

Penalty, which moves the raw weights away from zero: :math:`\frac{1}{t} \sum_{\theta \in \{\hat W, \hat M\}}
\mathrm{mean}\,\max(t - |\theta|, 0)` with :math:`t = 20`. Schlör et al. 2020; thesis, section 2.2.2,
equations 2.6 and 2.10.

Deviations: the initial values are those of the thesis's benchmark; `initial="authors"` uses those that the
authors found best. The penalty starts after 10,000 steps (thesis, table E.3; its section 2.2.2 says 10) and
while the last logged validation error is below 1. 5,000 losses are stored for reinitialisation (table E.3;
10,000 in section 2.2.2). No paper trains it on the arithmetic dataset of Madsen & Johansen 2020: the recipe
`arithmetic` is that of the single module, with the 5 million steps of the other units there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_choice
from nalm.recipes import ClipValue, Recipe, Reinitialise, UnitPenalty, WhenLossBelow
from nalm.recipes.initialisers import Normal
from nalm.units._base import Unit
from nalm.units._options import Common
from nalm.units._symbolic import linear
from nalm.units.nac import effective, nac, nac_weight, saturate_

AWAY = 20.0
"""The size from which on raw weights have no penalty."""
INITIAL = {
    "benchmark": {"w_hat": Normal(0.88, 0.2), "m_hat": Normal(0.5, 0.2), "gate": Normal(0.0, 0.2)},
    "authors": {"w_hat": Normal(1.0, 0.1), "m_hat": Normal(-1.0, 0.1), "gate": Normal(0.0, 0.1)},
}
"""Initial values by option and kind of parameter: thesis's public benchmark, and Schlör et al. 2020."""


def saturation_penalty(raw: Sequence[Tensor], lead: int) -> Tensor:
    """Sum over tensors of mean max(20 - |raw|, 0), divided by 20. The first `lead` axes are models."""
    means = [(AWAY - tensor.abs()).clamp(min=0).mean(tuple(range(lead, tensor.dim()))) for tensor in raw]
    return torch.stack(means).sum(0) / AWAY


def inalu_recipe(name: str, inputs: int) -> Recipe:
    """Clipped gradients, a penalty once the loss is small, reinitialisation: thesis, table E.3."""
    single = 50_000 if inputs < 10 else 100_000
    return Recipe(
        penalties=(UnitPenalty(1.0, WhenLossBelow(1.0, 10_000)),),
        clip_value=ClipValue(0.1),
        reinitialise=Reinitialise(stored=5_000),
        iterations=5_000_000 if name == "arithmetic" else single,
    )


class INAC(Unit):
    """The iNALU's sum: a NAC with clipped gradients, reinitialisation and a penalty on unsaturated weights.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        initial: "benchmark" or "authors", where the initial weights come from.

    Example:
        >>> unit = nalm.INAC(3, 1)
        >>> unit.ideal_("sub", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[3.]], grad_fn=<...>)
    """

    name = "inac"
    ops: tuple[str, ...] = ("add", "sub")
    papers = ("schloer2020", "mistry2023")
    recipes = ("published", "arithmetic")

    w_hat: Tensor
    m_hat: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        initial: str = "benchmark",
        **common: Unpack[Common],
    ) -> None:
        self.initial = check_choice("initial", initial, INITIAL)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the parameters."""
        for raw in ("w_hat", "m_hat"):
            self.declare(raw, (self.out_features, self.in_features), INITIAL[self.initial][raw])

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return nac(x, self.w_hat, self.m_hat)

    def weights(self) -> dict[str, Tensor]:
        """The effective weight matrix."""
        return {"W": nac_weight(self.w_hat, self.m_hat)}

    def penalty(self) -> Tensor:
        """How far the raw weights are from saturation."""
        return saturation_penalty((self.w_hat, self.m_hat), len(self.batch_shape))

    def select_(self, weight: Tensor) -> None:
        """Saturate the raw weights such that the effective ones are these of {-1, 0, 1}."""
        saturate_(self.w_hat, self.m_hat, weight)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The iNALU's recipe."""
        return inalu_recipe(name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The sum of effective weight * input for each output."""
        return [linear(row, symbols) for row in effective(values["w_hat"], values["m_hat"])]

    def options_repr(self) -> str:
        """Where the initial weights come from, if not from the benchmark."""
        return "" if self.initial == "benchmark" else f", initial={self.initial!r}"
