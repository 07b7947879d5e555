"""The torch operations that can be followed on expressions, by their name in torch.

Operations that only move numbers need no separate rules: they are applied to positions, which then say where
each expression goes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from nalm.units._symbolic import as_number, number

UNCHANGED = frozenset({
    "alpha_dropout", "bfloat16", "clone", "contiguous", "cpu", "cuda", "detach", "double", "dropout",
    "feature_dropout", "float", "positive", "requires_grad_", "to", "type", "type_as",
})  # fmt: skip
"""Operations that do not change values. Models are read in evaluation mode, where dropout is among them."""

ALL_MOVED = frozenset({
    "atleast_1d", "atleast_2d", "broadcast_tensors", "cat", "column_stack", "concat", "concatenate", "dstack",
    "hstack", "stack", "vstack",
})  # fmt: skip
"""Movements of all the tensors in their arguments, including constants."""

MOVED = ALL_MOVED | frozenset({
    "T", "adjoint", "broadcast_to", "chunk", "diagonal", "expand", "expand_as", "flatten", "flip", "fliplr",
    "flipud", "gather", "getitem", "index_select", "mT", "moveaxis", "movedim", "narrow", "permute", "ravel",
    "repeat", "repeat_interleave", "reshape", "reshape_as", "roll", "select", "split", "split_with_sizes",
    "squeeze", "swapaxes", "swapdims", "t", "take_along_dim", "tensor_split", "tile", "transpose", "unbind",
    "unflatten", "unsqueeze", "view", "view_as",
})  # fmt: skip
"""Movements: changes of shape, and selections of columns and of fixed positions."""


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers applied to arrays of expressions that broadcast against each other."""

    def applied(*operands: Any) -> Any:
        return np.frompyfunc(lambda *values: function(*map(_number, values)), len(operands), 1)(*operands)

    return applied


def _number(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return number(value)
    return as_number(value)


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(b, a)


def _of_sympy(name: str) -> Callable[..., Any]:
    def applied(*values: Any) -> Any:
        import sympy as sp

        return getattr(sp, name)(*values)

    return _each(applied)


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A reduction over one axis, several, or all."""

    def applied(values: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
        axes = range(values.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else [dim]
        result = _each(lambda value: value)(values)
        for axis in sorted((axis % values.ndim for axis in axes), reverse=True):
            parts = list(np.moveaxis(np.asarray(result, object), axis, 0))
            total: Any = parts[0]
            for part in parts[1:]:
                total = _each(function)(total, part)
            result = np.expand_dims(np.asarray(total, object), axis) if keepdim else total
        return np.asarray(result, object)

    return applied


def _mean(values: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    total = _folded(operator.add)(values, dim, keepdim)
    return _each(operator.truediv)(total, values.size // max(1, total.size))


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "subtract": operator.sub,
    "mul": operator.mul,
    "multiply": operator.mul,
    "div": operator.truediv,
    "divide": operator.truediv,
    "true_divide": operator.truediv,
    "truediv": operator.truediv,
    "pow": operator.pow,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "negative": operator.neg,
    "square": lambda value: value**2,
    "reciprocal": lambda value: 1 / value,
}

ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{name: _each(function) for name, function in _BINARY.items()},
    **{name: _each(function) for name, function in _UNARY.items()},
    **{f"r{name}": _each(_swapped(function)) for name, function in _BINARY.items()},
    **{f"i{name}": _each(function) for name, function in _BINARY.items()},
    "abs": _of_sympy("Abs"),
    "absolute": _of_sympy("Abs"),
    "sqrt": _of_sympy("sqrt"),
    "exp": _of_sympy("exp"),
    "log": _of_sympy("log"),
    "maximum": _of_sympy("Max"),
    "minimum": _of_sympy("Min"),
    "relu": lambda values, inplace=False: _of_sympy("Max")(values, 0),
    "sum": _folded(operator.add),
    "prod": _folded(operator.mul),
    "mean": _mean,
}
"""Arithmetic between expressions. Calls with arguments that these functions do not take are not followed."""
