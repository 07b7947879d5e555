r"""Composer: a scratchpad whose every step chooses one operation and two operands.

.. math::
    l_{t} = \sum_i L_{t,i}\, z_i, \qquad r_{t} = \sum_i R_{t,i}\, z_i, \qquad
    z_{n+t} = \sum_o G_{t,o}\; o(l_t, r_t), \qquad y = \sum_i Y_i\, z_i

The lines :math:`z` are the n inputs followed by the results of the steps, and a step reads only lines before
it. The operations o are those of `nalm.symbolic.expression_graph`: what a NAU or an NRU computes of two
inputs with weights of -1, 0 and 1. With one-hot rows of G, L, R and Y it is an expression graph.

It is ours, and not published. `nalm bench` lets the search of `nalm.compose` find the graph and sets the
weights accordingly (`set_graph_`); in between it is a differentiable relaxation that the engine can train.

Deviations: an operation whose share is exactly zero is left out, so that a division by zero that is not
chosen does no harm; the reciprocal of zero is 0, as in the NRU.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_positive
from nalm.models.composite import Composite
from nalm.models.selector import check_one_output
from nalm.recipes import Recipe
from nalm.recipes.initialisers import Uniform
from nalm.symbolic.expression_graph import SIGNS, SUM, ExpressionGraph, Step
from nalm.units._options import Common
from nalm.units._symbolic import number

CODES = tuple(SIGNS)


def of_step(op: str, left: Tensor, right: Tensor) -> Tensor:
    """The result of an operation of a step, with 0 for the reciprocal of 0."""
    kind, first, second = SIGNS[op]
    if kind == SUM:
        return first * left + second * right
    return _power(left, first) * _power(right, second)


def _power(value: Tensor, exponent: int) -> Tensor:
    if exponent == 0:
        return torch.ones_like(value)
    if exponent > 0:
        return value
    return torch.where(value == 0, 0.0, 1 / torch.where(value == 0, 1.0, value))


class Composer(Composite):
    """A scratchpad of steps, each of which chooses an operation and two lines to read.

    Args:
        in_features: number of inputs.
        out_features: number of outputs: 1.
        batch_shape: shape of the set of models held side by side.
        device: where the parameters live.
        dtype: precision of the parameters.
        steps: number of steps.

    Example:
        >>> from nalm.models import Composer
        >>> composer = Composer(3, 1, steps=2)
        >>> composer.ideal_("div", 0, 2)
        >>> composer(torch.tensor([[5.0, 100.0, 2.0]]))
        tensor([[2.5000]], grad_fn=<...>)
    """

    name = "composer"
    papers = ()
    recipes = ("published",)

    operation: Tensor
    left: Tensor
    right: Tensor
    output: Tensor

    def __init__(
        self, in_features: int, out_features: int, *, steps: int = 4, **common: Unpack[Common]
    ) -> None:
        check_one_output(out_features, "composer")
        self.steps = check_positive("steps", steps)
        super().__init__(in_features, out_features, **common)

    def build(self) -> None:
        """Declare the choices of each step, and that of the result."""
        lines = self.in_features + self.steps
        self.declare("operation", (self.steps, len(CODES)), _about_equal(len(CODES)))
        self.declare("left", (self.steps, lines), _about_equal(lines))
        self.declare("right", (self.steps, lines), _about_equal(lines))
        self.declare("output", (lines,), _about_equal(lines))

    def compute(self, x: Tensor) -> Tensor:
        """The equation itself."""
        lines = list(x.unbind(-1))
        for t in range(self.steps):
            left, right = (self._read(choice[..., t, :], lines) for choice in (self.left, self.right))
            results = [of_step(op, left, right) for op in CODES]
            lines.append(self._read(self.operation[..., t, :], results))
        return self._read(self.output, lines)[..., None]

    @staticmethod
    def _read(shares: Tensor, lines: list[Tensor]) -> Tensor:
        """The weighted sum of lines, `*batch x n`; a line whose share is zero may be infinite."""
        total = torch.zeros_like(lines[0])
        for k, line in enumerate(lines):
            share = shares[..., k, None]
            total = total + torch.where(share == 0, 0.0, share * torch.where(share == 0, 0.0, line))
        return total

    def weights(self) -> dict[str, Tensor]:
        """All choices."""
        return {name: getattr(self, name) for name in ("operation", "left", "right", "output")}

    @torch.no_grad()
    def project_(self) -> None:
        """Clamp every share to [0, 1]."""
        for tensor in self.weights().values():
            tensor.clamp_(0, 1)

    @torch.no_grad()
    def snap_(self) -> None:
        """Round every share to 0 or 1."""
        for tensor in self.weights().values():
            tensor.copy_(tensor.clamp(0, 1).round())

    def set_ideal_(self, op: str, i: int, j: int) -> None:
        """One step on both inputs."""
        self.set_graph_(ExpressionGraph(self.in_features, (Step(op, i, j),)))

    @torch.no_grad()
    def set_graph_(self, graph: ExpressionGraph) -> None:
        """Set the weights that compute an expression graph, in place; steps that are left over are zero."""
        if graph.inputs != self.in_features or len(graph.steps) > self.steps:
            has = f"{graph.inputs} inputs and {len(graph.steps)} steps"
            raise ArgumentError("graph", f"of {self.in_features} inputs and at most {self.steps} steps", has)
        for tensor in self.weights().values():
            tensor.zero_()
        for t, step in enumerate(graph.steps):
            self.operation[..., t, CODES.index(step.op)] = 1
            self.left[..., t, step.left] = 1
            self.right[..., t, step.right] = 1
        self.output[..., graph.result] = 1

    def graph(self, values: dict[str, np.ndarray]) -> ExpressionGraph | None:
        """The expression graph of one model, given its parameters; None if a choice is not one-hot."""
        result = _chosen(values["output"])
        steps = []
        for t in range(self.steps):
            chosen = [_chosen(values[name][t]) for name in ("operation", "left", "right")]
            if None in chosen:
                break
            operation, left, right = (int(k or 0) for k in chosen)
            steps.append(Step(CODES[operation], left, right))
        if result is None or result >= self.in_features + len(steps):
            return None
        return ExpressionGraph(self.in_features, tuple(steps), result)

    def holds(self, x: Tensor) -> Tensor:
        """All rows."""
        return torch.ones_like(x[..., 0], dtype=torch.bool)

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        """The search of `nalm.compose`."""
        return Recipe(by="compose", penalties=(), clamps=(), iterations=1)

    def symbolic(self, values: dict[str, np.ndarray], symbols: list[Any], idealised: bool) -> list[Any]:
        """The formula; a mixture of all operations if the choices are not made."""
        graph = self.graph(values)
        if graph is not None:
            return [graph.expression(symbols)]
        lines = list(symbols)
        for t in range(self.steps):
            left, right = (_mixed(values[name][t], lines) for name in ("left", "right"))
            chosen = {op: s for op, s in zip(CODES, values["operation"][t]) if s != 0}
            lines.append(sum(number(s) * _applied(op, left, right) for op, s in chosen.items()))
        return [_mixed(values["output"], lines)]

    def options_repr(self) -> str:
        """The number of steps."""
        return f", steps={self.steps}"


def _about_equal(choices: int) -> Uniform:
    """Shares that are about the same for all choices."""
    return Uniform(0.5 / choices, 1.5 / choices)


def _applied(op: str, left: Any, right: Any) -> Any:
    import sympy as sp

    kind, first, second = SIGNS[op]
    if kind == SUM:
        return first * left + second * right
    powers = [(left, first), (right, second)]
    return sp.Mul(*(sp.Integer(0) if value == 0 and p < 0 else value**p for value, p in powers if p))


def _chosen(shares: np.ndarray) -> int | None:
    """The place of the only 1 among zeros; None if they are something else."""
    places = np.flatnonzero(shares)
    return int(places[0]) if len(places) == 1 and shares[places[0]] == 1 else None


def _mixed(shares: np.ndarray, lines: list[Any]) -> Any:
    import sympy as sp

    return sp.Add(*(number(share) * line for share, line in zip(shares, lines) if share != 0))
