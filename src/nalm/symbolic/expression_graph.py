"""Expression graphs: formulas of several steps, each an operation on two lines.

The lines are the inputs, followed by the result of each step. A later step may read any earlier line, and a
line may be read more than once, so that `(a + b)**2` takes two steps. The last line is the result.

A step is what one unit does with weights of -1, 0 and 1: a NAU adds and subtracts its two operands, an NRU
multiplies and divides them.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SUM, PRODUCT = "sum", "product"
SIGNS: dict[str, tuple[str, int, int]] = {
    "add": (SUM, 1, 1),
    "sub": (SUM, 1, -1),
    "minus": (SUM, -1, -1),
    "mul": (PRODUCT, 1, 1),
    "div": (PRODUCT, 1, -1),
    "inverse": (PRODUCT, -1, -1),
    "negative": (SUM, -1, 0),
    "reciprocal": (PRODUCT, -1, 0),
}
"""The operations of a step: whether weights are factors of a sum or powers in a product, and both weights."""

UNARY = tuple(op for op, (_, _, second) in SIGNS.items() if second == 0)
"""The operations that read their first operand only."""

_PRIME = 2**61 - 1
_POINTS = 3
"""Graphs are compared at so many random points, in arithmetic modulo a large prime."""


@dataclass(frozen=True)
class Step:
    """An operation on two earlier lines; an operation of `UNARY` reads the first only."""

    op: str
    left: int
    right: int

    @property
    def reads(self) -> tuple[int, ...]:
        """The lines that it reads."""
        return (self.left,) if self.op in UNARY else (self.left, self.right)


@dataclass(frozen=True)
class ExpressionGraph:
    """A formula of several steps.

    Attributes:
        inputs: the number of inputs, which are the first lines.
        steps: in the order in which they are computed.
        output: the line that is the result, by default the last one.
    """

    inputs: int
    steps: tuple[Step, ...]
    output: int = -1

    @property
    def result(self) -> int:
        """The index of the line that is the result."""
        return self.output % (self.inputs + len(self.steps))

    @property
    def needed(self) -> frozenset[int]:
        """The lines that the result depends on, itself included."""
        found, todo = set(), [self.result]
        while todo:
            line = todo.pop()
            if line not in found:
                found.add(line)
                todo += self.steps[line - self.inputs].reads if line >= self.inputs else ()
        return frozenset(found)

    @property
    def used_inputs(self) -> tuple[int, ...]:
        """The inputs that the formula mentions."""
        return tuple(sorted(line for line in self.needed if line < self.inputs))

    def lines(self, columns: Sequence[Any], apply: Any = None) -> list[Any]:
        """All lines, given the inputs one by one: arrays, tensors or expressions."""
        found = list(columns)
        for step in self.steps:
            found.append((apply or applied)(step.op, found[step.left], found[step.right]))
        return found

    def __call__(self, x: Any) -> Any:
        """The values, shape `...`, for inputs `... x inputs`, an array or a tensor."""
        return self.lines([x[..., k] for k in range(self.inputs)])[self.result]

    def expression(self, names: Sequence[Any]) -> Any:
        """The formula in sympy, in these names or symbols, as it is computed and not simplified."""
        import sympy as sp

        symbols = [sp.Symbol(name, real=True) if isinstance(name, str) else name for name in names]
        return self.lines(symbols)[self.result]

    def shortest(self, names: Sequence[str]) -> Any:
        """The formula in sympy, factored or expanded if that has fewer operations."""
        return _shortest(self, tuple(names))

    @functools.cached_property
    def fingerprint(self) -> tuple[int, ...] | None:
        """The same for graphs that compute the same function; None if one divides by zero everywhere.

        Two rational functions that agree at random points modulo a large prime are the same, except with a
        probability of about 1e-50.
        """
        try:
            return tuple(self.lines(point, _modular)[self.result] for point in _points(self.inputs))
        except ZeroDivisionError:
            return None

    def is_equal(self, expression: Any, names: Sequence[str]) -> bool:
        """Whether a sympy expression in these names is the same function, computed with exact fractions."""
        import sympy as sp

        symbols = [sp.Symbol(name, real=True) for name in names]
        for point in _points(self.inputs):
            numbers = [sp.Rational(value % 1000 + 1, 7 + value % 11) for value in point]
            if expression.subs(dict(zip(symbols, numbers))) != self.lines(numbers)[self.result]:
                return False
        return True

    def depends_on(self, column: int) -> bool:
        """Whether the function changes with this input: `a + b - b` does not with b."""
        points = [[*point] for point in _points(self.inputs)]
        for point, other in zip(points, _points(self.inputs + 1)):
            point[column] = other[self.inputs]
        try:
            moved = tuple(self.lines(point, _modular)[self.result] for point in points)
        except ZeroDivisionError:
            return True
        return moved != self.fingerprint


@functools.lru_cache(maxsize=1024)
def _shortest(graph: ExpressionGraph, names: tuple[str, ...]) -> Any:
    import sympy as sp

    plain = graph.expression(names)
    return min(plain, sp.factor(plain), sp.expand(plain), key=sp.count_ops)


def applied(op: str, left: Any, right: Any) -> Any:
    """The result of an operation on arrays, tensors or expressions."""
    match op:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "minus":
            return -left - right
        case "mul":
            return left * right
        case "div":
            return left / right
        case "inverse":
            return 1 / (left * right)
        case "negative":
            return -left
    return 1 / left


def _modular(op: str, left: int, right: int) -> int:
    """The result of an operation on numbers modulo the prime."""
    kind, first, second = SIGNS[op]
    if kind == SUM:
        return (first * left + second * right) % _PRIME
    return _power(left, first) * _power(right, second) % _PRIME


def _power(value: int, exponent: int) -> int:
    if exponent < 0 and value == 0:
        raise ZeroDivisionError
    return pow(value, exponent, _PRIME)


@functools.cache
def _points(inputs: int) -> tuple[tuple[int, ...], ...]:
    """Random points; those with fewer inputs are the beginnings of those with more."""
    streams = [random.Random(seed) for seed in range(_POINTS)]
    return tuple(tuple(stream.randrange(1, _PRIME) for _ in range(inputs)) for stream in streams)


def letters(count: int) -> list[str]:
    """Names of inputs: a, b, c, … as in the thesis, or x1, x2, … if there are more than 26."""
    return [chr(ord("a") + k) for k in range(count)] if count <= 26 else [f"x{k + 1}" for k in range(count)]
