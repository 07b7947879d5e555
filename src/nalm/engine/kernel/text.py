"""Single expressions as C++."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.engine.kernel.arrays import Array
from nalm.engine.kernel.expressions import FEATURES, SAMPLES, Expression

VECTORS = {"float": "vf", "int": "vi", "bool": "vi"}
"""The type of a vector of each kind of number; a vector of bools is a mask."""
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "xor": "^", "and": "&", "or": "|", "shift": ">>"}


@dataclass(frozen=True)
class Names:
    """Where numbers are in memory.

    Attributes:
        inputs: the inputs of the program.
    """

    inputs: list[Array]

    def input(self, index: int, element: tuple[int, ...]) -> str:
        """The array of an element of an input."""
        shape = self.inputs[index].elements.shape
        return f"s{index}_{int(np.ravel_multi_index(element, shape)) if shape else 0}"

    def scalar(self, each: Expression) -> str:
        """A number of model `m`, at feature `i` if it varies along features."""
        if each.op == "constant":
            return literal(each)
        if each.op == "counter":
            return counter(each)
        place = "[m][i]" if FEATURES in each.loops else "[m]"
        if each.op != "input":
            return f"v{each.number}{place}"
        index, element, *at = each.detail
        return self.input(index, element) + (f"[m][{at[0]}]" if at else place)


def applied(each: Expression, given: Sequence[str]) -> str:
    """An operator applied to its arguments."""
    if each.op in _INFIX:
        return f"{given[0]} {_INFIX[each.op]} {given[1]}"
    if each.op == "neg":
        return f"-{given[0]}"
    if each.op == "cast":
        return f"to_{each.kind}({given[0]})"
    return f"{each.op}_({', '.join(given)})"


def counter(each: Expression) -> str:
    """The whole number start + the sum of stride * index."""
    start, along = each.detail
    strides = dict(along)
    terms = [f"{_whole(strides[axis])} * {axis}" for axis in (SAMPLES, FEATURES) if axis in strides]
    return f"({' + '.join([_whole(start), *terms])})"


def counters(each: Expression, offset: int) -> str:
    """A vector of these whole numbers, which begins `offset` samples after `n`."""
    start, along = each.detail
    stride = dict(along).get(SAMPLES, 0)
    first = counter(each).replace(_whole(start), _whole(start + stride * offset), 1)
    return f"(splat{first} + lane() * {_whole(stride)})" if stride else f"splat{first}"


def literal(each: Expression) -> str:
    """A constant, to its last digit."""
    value = each.detail[0]
    if each.kind == "bool":
        return "true" if value else "false"
    if each.kind == "int":
        return _whole(int(value))
    if each.kind == "long":
        return f"({int(value)}L)"
    suffix = "f" if each.kind == "float" else ""
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{suffix}())"
    return f"({float(value).hex()}{suffix})"


def _whole(value: int) -> str:
    value = (value + 2**31) % 2**32 - 2**31
    return f"({value})" if value > -(2**31) else "(-2147483647 - 1)"
