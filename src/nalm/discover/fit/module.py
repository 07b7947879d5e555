"""A formula as a module of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
import torch
from torch import Tensor, nn

Step = tuple[str, tuple[float, ...]]


class FormulaModule(nn.Module):
    """Computes formulas of the columns of its input, `(..., in)` to `(..., out)`.

    The numbers of the formulas are the parameter `constants`, in the order in which they occur, so that they
    can be trained further; `requires_grad_(False)` holds them. Exponents are fixed.

    Args:
        expressions: one formula per output.
        symbols: the symbols of the columns.
    """

    def __init__(self, expressions: Sequence[sp.Expr], symbols: Sequence[sp.Symbol]) -> None:
        super().__init__()
        numbers: list[float] = []
        places = {symbol: k for k, symbol in enumerate(symbols)}
        self.programs = [_program(expression, places, numbers) for expression in expressions]
        self.text = ", ".join(str(expression) for expression in expressions)
        self.in_features, self.out_features = len(symbols), len(expressions)
        self.constants = nn.Parameter(torch.tensor(numbers, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """The values of the formulas."""
        constants = self.constants.to(x.dtype)
        return torch.stack([_run(program, x, constants) for program in self.programs], -1)

    def extra_repr(self) -> str:
        """The formulas."""
        return self.text


def _program(node: sp.Expr, places: dict[sp.Symbol, int], numbers: list[float]) -> list[Step]:
    """Steps on a stack: push an input or a number, add, multiply, raise to a power."""
    if node.is_Symbol:
        return [("input", (places[node],))]
    if not node.free_symbols:
        numbers.append(float(node))
        return [("number", (len(numbers) - 1,))]
    if node.is_Pow:
        return [*_program(node.base, places, numbers), ("power", (float(node.exp),))]
    parts = [_program(argument, places, numbers) for argument in node.args]
    return [*(step for part in parts for step in part), ("add" if node.is_Add else "multiply", (len(parts),))]


def _run(program: list[Step], x: Tensor, constants: Tensor) -> Tensor:
    stack: list[Tensor] = []
    for name, (value,) in program:
        if name == "input":
            stack.append(x[..., int(value)])
        elif name == "number":
            stack.append(constants[int(value)].expand(x.shape[:-1]))
        elif name == "power":
            stack.append(_power(stack.pop(), value))
        else:
            parts = [stack.pop() for _ in range(int(value))][::-1]
            made = parts[0]
            for part in parts[1:]:
                made = made + part if name == "add" else made * part
            stack.append(made)
    return stack[0]


def _power(base: Tensor, exponent: float) -> Tensor:
    if exponent == 0.5:
        return base.sqrt()
    if exponent == -0.5:
        return base.rsqrt()
    return base ** (int(exponent) if exponent == int(exponent) else exponent)
