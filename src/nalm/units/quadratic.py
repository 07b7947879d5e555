r"""Quadratic, a layer of quadratic neurons.

.. math::
    y_o = \Big(\sum_i U_{o,i} x_i + b_o\Big) \Big(\sum_i V_{o,i} x_i + c_o\Big) + \sum_i W_{o,i} x_i^2 + d_o

Fan et al. 2018; thesis, equation 7.1: a baseline that can add, subtract and multiply, but not divide.

Deviations: the thesis does not specify the initial values; they are Xavier uniform, zero for b and d, and one
for c, so that a new layer is close to a linear one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.recipes.initialisers import Constant, xavier_uniform
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._symbolic import linear, number


def quadratic(x: Tensor, u: Tensor, v: Tensor, w: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """Product of two affine forms plus squares: x `*batch x n x in`, u, v, w `*batch x out x in`."""
    product = (weighted_sum(x, u) + b[..., None, :]) * (weighted_sum(x, v) + c[..., None, :])
    return product + weighted_sum(x, w, torch.square) + d[..., None, :]


class Quadratic(Unit):
    """Quadratic neurons: a product of two affine forms plus weighted squares.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.

    Example:
        >>> unit = nalm.Quadratic(3, 1)
        >>> unit.ideal_("mul", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[10.]], grad_fn=<...>)
    """

    name = "quadratic"
    ops = ("add", "sub", "mul")
    papers = ("fan2018", "mistry2023")
    bias_names = ("b", "c", "d")

    u: Tensor
    v: Tensor
    w: Tensor
    b: Tensor
    c: Tensor
    d: Tensor

    def build(self) -> None:
        """Declare the parameters."""
        for name in ("u", "v", "w"):
            initial = xavier_uniform(self.in_features, self.out_features)
            self.declare(name, (self.out_features, self.in_features), initial)
        for name, value in (("b", 0.0), ("c", 1.0), ("d", 0.0)):
            self.declare(name, (self.out_features,), Constant(value))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return quadratic(x, self.u, self.v, self.w, self.b, self.c, self.d)

    def weights(self) -> dict[str, Tensor]:
        """All matrices and biases."""
        return {name: getattr(self, name) for name in ("u", "v", "w", "b", "c", "d")}

    @torch.no_grad()
    def snap_(self) -> None:
        """Round everything to whole numbers."""
        for tensor in self.weights().values():
            tensor.copy_(tensor.round())

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """A product of inputs i and j, or their sum times 1."""
        for tensor in self.weights().values():
            tensor.zero_()
        self.u[..., i] = 1
        if op == "mul":
            self.v[..., j] = 1
        else:
            self.u[..., j] = -1 if op == "sub" else 1
            self.c.fill_(1)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The quadratic form for each output."""
        squares = [s**2 for s in symbols]
        return [
            (linear(u, symbols) + number(b)) * (linear(v, symbols) + number(c))
            + linear(w, squares)
            + number(d)
            for u, v, w, b, c, d in zip(*(values[name] for name in ("u", "v", "w", "b", "c", "d")))
        ]
