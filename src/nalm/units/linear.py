r"""Linear, the ordinary layer as a baseline, optionally with squashed weights or an activation of its inputs.

.. math:: y_o = \sum_i f(W_{o,i}) g(x)_i + b_o, \qquad f \in \{\mathrm{id}, \sigma, \tanh\}

g is an activation, by default none. It is applied before the weights, so that a stack of such layers is a
network of linear layers with the activation between them: `linear+linear(activation=relu)`.

Trask et al. 2018, tables 4, 5 and 6; Madsen & Johansen 2020, section 4.1.2.

Deviations: the papers do not specify the initial values; they are Xavier uniform, and zero for b. Nor do
Madsen & Johansen say whether there is a bias; their public program has one. Stored runs keep the sparsity
error with the bias, unlike `nalm.sparsity_error` (docs/fidelity.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_choice
from nalm.recipes import Recipe
from nalm.recipes.initialisers import Constant, xavier_uniform
from nalm.units import _activations as activations
from nalm.units._base import Unit
from nalm.units._functional import weighted_sum
from nalm.units._options import Common
from nalm.units._symbolic import linear as linear_expression
from nalm.units._symbolic import number
from nalm.units.nac import NAC, SATURATED

SQUASH: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda weight: weight,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}
"""How a raw weight becomes a weight."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Affine map: x `*batch x n x in`, weight `*batch x out x in`, bias `*batch x out`."""
    total = weighted_sum(x, weight)
    return total if bias is None else total + bias[..., None, :]


class Linear(Unit):
    """Linear layer, plain, with weights squashed by the logistic function or tanh, or after an activation.

    With an activation it cannot express any operation by itself.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        weight: how raw weights become weights: "linear", "sigmoid" or "tanh".
        bias: whether there is a bias.
        activation: the function applied to the inputs, such as "relu"; "crelu" gives two values per input,
            and "prelu" has one learnt slope. By default "none".

    Example:
        >>> unit = nalm.Linear(3, 1)
        >>> unit.ideal_("sub", 0, 2)
        >>> unit(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[3.]], grad_fn=<...>)
    """

    name = "linear"
    ops: tuple[str, ...] = ("add", "sub")
    papers = ("trask2018", "madsen2020")
    recipes = ("published", "arithmetic")
    bias_names = ("b",)

    w_hat: Tensor
    bias: Tensor | None
    slope: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        weight: str = "linear",
        bias: bool = True,
        activation: str = "none",
        **common: Unpack[Common],
    ) -> None:
        self.squash, self.has_bias = check_choice("weight", weight, SQUASH), bias
        self.activation = check_choice("activation", activation, activations.FUNCTIONS)
        super().__init__(in_features, out_features, **common)
        if weight == "sigmoid":
            self.ops = ("add",)
        if activation != "none":
            self.ops = ()

    def build(self) -> None:
        """Declare the parameters."""
        inputs = activations.widening(self.activation) * self.in_features
        self.declare("w_hat", (self.out_features, inputs), xavier_uniform(inputs, self.out_features))
        if self.has_bias:
            self.declare("bias", (self.out_features,), Constant(0.0))
        else:
            self.register_parameter("bias", None)
        if self.activation == "prelu":
            self.declare("slope", (1,), Constant(activations.PRELU_SLOPE))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        return linear(self._activated(x), self.weights()["W"], self.bias)

    def _activated(self, x: Tensor) -> Tensor:
        function = activations.FUNCTIONS[self.activation]
        return function(x, self.slope) if self.activation == "prelu" else function(x)

    def weights(self) -> dict[str, Tensor]:
        """The weight matrix, and the bias if there is one."""
        weight = SQUASH[self.squash](self.w_hat)
        return {"W": weight} if self.bias is None else {"W": weight, "b": self.bias}

    @torch.no_grad()
    def select_(self, weight: Tensor) -> None:
        """Set this weight matrix; squashed weights are saturated."""
        if self.squash == "linear":
            self.w_hat.copy_(weight)
        else:
            off = -SATURATED if self.squash == "sigmoid" else 0.0
            self.w_hat.copy_(torch.where(weight == 0, off, SATURATED * weight))
        if self.bias is not None:
            self.bias.copy_(self.bias.round())

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """1 on input i, 1 or -1 on input j, and no bias."""
        if self.bias is not None:
            self.bias.zero_()
        super().set_ideal_(op, i, j)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """Plain Adam with learning rate 1e-3 and no penalty, like the NAC."""
        return NAC.make_recipe(op, name, inputs)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The weighted sum plus bias for each output."""
        weight = SQUASH[self.squash](torch.from_numpy(np.asarray(values["w_hat"]))).numpy()
        shift = values.get("bias", np.zeros(self.out_features))
        slope = float(values.get("slope", np.zeros(1))[0])
        inputs = activations.expressions(self.activation, symbols, slope)
        return [linear_expression(row, inputs) + number(b) for row, b in zip(weight, shift)]

    def options_repr(self) -> str:
        """The options that differ from an ordinary linear layer."""
        squash = "" if self.squash == "linear" else f", weight={self.squash!r}"
        activation = "" if self.activation == "none" else f", activation={self.activation!r}"
        return squash + ("" if self.has_bias else ", bias=False") + activation
