"""An expression graph as a network: one unit per step, which reads two lines and writes one.

Lines are the inputs and the results of the steps before. Sums and differences are NAUs, products are NMUs,
quotients are NRUs, all with two inputs and one output and with the weights of the graph. It is an ordinary
module of units: it can be trained further, put into a larger network, read by `nalm.explain`, and saved.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nalm.symbolic.expression_graph import SIGNS, SUM, ExpressionGraph
from nalm.units import NAU, NMU, NRU, Unit


class UnitGraph(nn.Module):
    """The network of an expression graph.

    Args:
        graph: the formula.
        device: where the parameters live.
        dtype: precision of the parameters.

    Example:
        >>> from nalm.symbolic.expression_graph import ExpressionGraph, Step
        >>> graph = ExpressionGraph(3, (Step("add", 0, 1), Step("div", 3, 2)))
        >>> model = UnitGraph(graph)
        >>> model(torch.tensor([[1.0, 5.0, 2.0]]))
        tensor([[3.]], grad_fn=<...>)
        >>> print(nalm.explain(model, ["a", "b", "c"]))
        (a + b)/c
    """

    def __init__(
        self,
        graph: ExpressionGraph,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.graph = graph
        common: dict[str, Any] = {"device": device, "dtype": dtype}
        # A formula that is one of the inputs is a sum of that input alone, so that it has a unit to read.
        self.steps = nn.ModuleList(_unit(step.op, common) for step in graph.steps)
        if not graph.steps:
            self.steps.append(_set(NAU(1, 1, **common), (1,)))

    def forward(self, input: Tensor) -> Tensor:
        """`... x inputs` to `... x 1`."""
        lines = [input[..., k : k + 1] for k in range(self.graph.inputs)]
        for step, unit in zip(self.graph.steps, self.steps):
            lines.append(unit(torch.cat([lines[step.left], lines[step.right]], -1)))
        result: Tensor = lines[self.graph.result]
        return result if self.graph.steps else self.steps[0](result)

    def extra_repr(self) -> str:
        """The formula."""
        return str(self.graph.expression([f"x{k + 1}" for k in range(self.graph.inputs)]))


def _unit(op: str, common: dict[str, Any]) -> Unit:
    """The unit of an operation, with its weights."""
    kind, first, second = SIGNS[op]
    if kind == SUM:
        return _set(NAU(2, 1, **common), (first, second))
    return _set((NMU if op == "mul" else NRU)(2, 1, **common), (first, second))


def _set(unit: Unit, weights: tuple[int, ...]) -> Unit:
    with torch.no_grad():
        unit.select_(torch.tensor([weights]).to(unit.weights()["W"]))
    return unit
