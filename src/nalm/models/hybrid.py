r"""A layer of iNALUs and ReLU neurons side by side.

.. math::
    y_o = \mathrm{iNALU}_o(x) \quad (o \le k), \qquad
    y_o = \max\Big(\sum_i W_{o,i} x_i + b_o, 0\Big) \quad (o > k)

Schlör et al. 2020 use it to detect fraud in financial data; thesis, section 2.2.2.

Deviations: the thesis does not say how many of the outputs are iNALUs; here it is half of them, rounded up,
or as many as `arithmetic` says. The ReLU neurons start like our linear layer: Xavier uniform, no bias. The
recipe is that of the iNALU.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError
from nalm.models.composite import Composite
from nalm.recipes import Recipe
from nalm.units._options import Common
from nalm.units.inalu import INALU
from nalm.units.linear import Linear


class Hybrid(Composite):
    """iNALUs and ReLU neurons of the same inputs.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        arithmetic: how many of the outputs are iNALUs; -1 for half of them, rounded up.

    Example:
        >>> from nalm.models import Hybrid
        >>> layer = Hybrid(3, 2)
        >>> layer.ideal_("add", 0, 2)
        >>> layer(torch.tensor([[-5.0, 100.0, 2.0]]))
        tensor([[-3.,  0.]], grad_fn=<...>)
    """

    name = "hybrid"
    ops = INALU.ops
    unary = INALU.unary
    papers = ("schloer2020", "mistry2023")
    recipes = ("published",)
    largest = INALU.largest

    def __init__(
        self, in_features: int, out_features: int, *, arithmetic: int = -1, **common: Unpack[Common]
    ) -> None:
        most = out_features if isinstance(out_features, int) else 1
        if isinstance(arithmetic, bool) or arithmetic not in (-1, *range(1, most + 1)):
            expected = f"-1, or from 1 to the {out_features} outputs"
            raise ArgumentError("arithmetic", expected, repr(arithmetic))
        self.arithmetic = arithmetic
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Make both kinds of neurons; there are no parameters but theirs."""
        count = (self.out_features + 1) // 2 if self.arithmetic == -1 else self.arithmetic
        self.add_part("inalu", INALU, self.in_features, count)
        if count < self.out_features:
            self.add_part("relu", Linear, self.in_features, self.out_features - count)

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        parts = self.parts
        outputs = [parts["inalu"](x), *([torch.relu(parts["relu"](x))] if "relu" in parts else [])]
        return torch.cat(outputs, -1)

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """The ideal weights of the iNALUs; the ReLU neurons, which give no negative numbers, add or copy."""
        self.parts["inalu"].set_ideal_(op, i, j)
        if "relu" in self.parts:
            self.parts["relu"].set_ideal_("sub" if op == "sub" else "add", i, j)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The iNALU's recipe."""
        return INALU.make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The iNALUs' expressions, then those of the ReLU neurons."""
        import sympy as sp

        found = self.part_symbolic("inalu", values, symbols, idealised)
        if "relu" in self.parts:
            linear = self.part_symbolic("relu", values, symbols, idealised)
            found = [*found, *(sp.Max(value, 0) for value in linear)]
        return found

    def options_repr(self) -> str:
        """How many outputs are iNALUs, if not half."""
        return "" if self.arithmetic == -1 else f", arithmetic={self.arithmetic}"
