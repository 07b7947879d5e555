"""Expressions of single numbers: what one element of a tensor is, as a function of others.

Equal expressions are one object, so that nothing is computed twice. An expression belongs to one model; it
may also vary along samples and along one long axis of features. Short axes are written out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.engine.kernel.unsupported import Unsupported

MODELS, SAMPLES, FEATURES = "m", "n", "i"
"""The axes that are loops: models, outside of everything; samples; one long axis of features."""


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """One number per model, and per step of `loops`.

    Attributes:
        number: its place among all expressions; arguments come before those that use them.
        op: what computes it; see `OPERATORS` of `emit`, and the leaves below.
        arguments: the expressions that it is computed from.
        kind: "float", "double", "int", "long" or "bool".
        loops: the axes along which it varies.
        detail: what else belongs to it: the number of a constant, the place of an input.
    """

    number: int
    op: str
    arguments: tuple[Expression, ...]
    kind: str
    loops: frozenset[str]
    detail: Any = None


class Expressions:
    """Makes expressions, each of them once, and computes what is constant."""

    def __init__(self) -> None:
        self._known: dict[Any, Expression] = {}

    def constant(self, value: Any, kind: str) -> Expression:
        """A number."""
        made = _TYPES[kind](value)
        return self._make("constant", (), kind, frozenset(), (made, math.copysign(1, made)))

    def input(self, index: int, element: tuple[int, ...], kind: str, loops: frozenset[str]) -> Expression:
        """An element of an input tensor, by its indices along short axes."""
        return self._make("input", (), kind, loops, (index, element))

    def counter(self, start: int, along: tuple[tuple[str, int], ...]) -> Expression:
        """A whole number that grows evenly along axes: start + the sum of stride * index, modulo 2**32."""
        return self._make("counter", (), "int", frozenset(axis for axis, _ in along), (start, along))

    def at(self, expression: Expression, axis: str, index: int) -> Expression:
        """What an expression is at one place of an axis."""
        if axis not in expression.loops:
            return expression
        if expression.op == "counter":
            start, along = expression.detail
            rest = tuple((each, stride) for each, stride in along if each != axis)
            start += dict(along)[axis] * index
            return self.counter(start, rest) if rest else self.constant(start, "int")
        if expression.op == "input":
            detail, loops = (*expression.detail, index), expression.loops - {axis}
            return self._make("input", (), expression.kind, loops, detail)
        given = [self.at(each, axis, index) for each in expression.arguments]
        if expression.op == "total":
            return self._make(
                "total", tuple(given), expression.kind, expression.loops - {axis}, expression.detail
            )
        return self(expression.op, expression.kind, *given, detail=expression.detail)

    def total(self, body: Expression, axis: str, size: int) -> Expression:
        """The sum along an axis."""
        if axis not in body.loops:
            return self("mul", body.kind, body, self.constant(size, body.kind))
        return self._make("total", (body,), body.kind, body.loops - {axis}, axis)

    def __call__(self, op: str, kind: str, *arguments: Expression, detail: Any = None) -> Expression:
        """An operator applied to expressions."""
        found = self._simplified(op, kind, arguments)
        if found is not None:
            return found
        loops = frozenset().union(*(each.loops for each in arguments))
        return self._make(op, arguments, kind, loops, detail)

    def cast(self, argument: Expression, kind: str) -> Expression:
        """The same number of another kind."""
        if argument.kind == kind:
            return argument
        if argument.op == "constant":
            return self.constant(argument.detail[0], kind)
        if argument.kind == "bool":  # in a vector, a mask of ones and zeros, not 1 or 0
            return self("where", kind, argument, self.constant(1, kind), self.constant(0, kind))
        return self("cast", kind, argument, detail=kind)

    def _make(
        self, op: str, arguments: tuple[Expression, ...], kind: str, loops: frozenset[str], detail: Any
    ) -> Expression:
        key = (op, tuple(each.number for each in arguments), kind, loops, detail)
        if key not in self._known:
            self._known[key] = Expression(len(self._known), op, arguments, kind, loops, detail)
        return self._known[key]

    def _simplified(self, op: str, kind: str, given: tuple[Expression, ...]) -> Expression | None:
        values = [each.detail[0] if each.op == "constant" else None for each in given]
        if all(value is not None for value in values) and op in _FOLDED:
            return self.constant(_FOLDED[op](*values), kind)
        if op in ("add", "mul") and values[0] is not None:  # constants last
            given, values = given[::-1], values[::-1]
        if op in ("add", "sub", "xor", "or") and _is(values[-1], 0) and kind != "bool":
            return given[0]
        if op in ("mul", "div") and _is(values[-1], 1):
            return given[0]
        if op == "div" and values[1] is not None and kind in ("float", "double"):
            inverse = _TYPES[kind](1) / _TYPES[kind](values[1]) if values[1] else math.inf
            if math.isfinite(inverse) and math.frexp(values[1])[0] in (0.5, -0.5):
                return self("mul", kind, given[0], self.constant(inverse, kind))
        if op == "neg" and given[0].op == "neg":
            return given[0].arguments[0]
        if op == "where" and values[0] is not None:
            return given[1] if values[0] else given[2]
        if op == "where" and given[1] is given[2]:
            return given[1]
        return None


def _is(value: Any, number: int) -> bool:
    return value is not None and value == number


_TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "int": lambda value: np.int32((int(value) + 2**31) % 2**32 - 2**31),
    "long": np.int64,
    "bool": bool,
}


def _quietly(function: Any) -> Any:
    def computed(*values: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*values)

    return computed


_FOLDED = {
    "add": _quietly(lambda a, b: a + b),
    "sub": _quietly(lambda a, b: a - b),
    "mul": _quietly(lambda a, b: a * b),
    "div": _quietly(lambda a, b: np.divide(a, b)),
    "neg": _quietly(lambda a: -a),
    "sqrt": _quietly(np.sqrt),
    "reciprocal": _quietly(lambda a: np.divide(type(a)(1), a)),
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: not a,
}
"""Operators of constants that are computed at once; whole numbers wrap."""


def kind_of(dtype: Any) -> str:
    """The kind of the numbers of a torch dtype."""
    found = _KINDS.get(str(dtype).removeprefix("torch."))
    if found is None:
        raise Unsupported(f"numbers of dtype {dtype}")
    return found


_KINDS = {"float32": "float", "float64": "double", "int32": "int", "int64": "long", "bool": "bool"}
