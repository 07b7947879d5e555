"""What each of torch's operations is in terms of single numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nalm.engine.kernel.arrays import Array
from nalm.engine.kernel.context import Context
from nalm.engine.kernel.expressions import Expression
from nalm.engine.kernel.views import VIEWS, Lower


def _unary(op: str) -> Lower:
    def lower(context: Context, x: Array) -> Array:
        return context.elementwise(lambda a: context.make(op, context.kind, a), x, kinds=context.kind)

    return lower


def _binary(op: str) -> Lower:
    def lower(context: Context, x: Any, y: Any) -> Array:
        return context.elementwise(
            lambda a, b: context.make(op, context.kind, a, b), x, y, kinds=context.kind
        )

    return lower


def _compare(op: str, swapped: bool = False) -> Lower:
    def lower(context: Context, x: Any, y: Any) -> Array:
        first, second = (y, x) if swapped else (x, y)
        return context.elementwise(
            lambda a, b: context.make(op, "bool", a, b), first, second, kinds=context.promoted
        )

    return lower


def _logical(op: str) -> Lower:
    def lower(context: Context, *given: Array) -> Array:
        return context.elementwise(lambda *a: context.make(op, "bool", *a), *given, kinds="bool")

    return lower


def _add(context: Context, x: Any, y: Any, alpha: float = 1) -> Array:
    if alpha != 1:
        y = context.elementwise(context.times, y, alpha, kinds=context.kind)
    return _binary("add")(context, x, y)


def _sub(context: Context, x: Any, y: Any, alpha: float = 1) -> Array:
    if alpha != 1:
        y = context.elementwise(context.times, y, alpha, kinds=context.kind)
    return _binary("sub")(context, x, y)


def _rsub(context: Context, x: Array, y: Any, alpha: float = 1) -> Array:
    return _sub(context, y, x, alpha)


def _power(context: Context, x: Any, exponent: Any) -> Array:
    def raised(a: Expression, b: Expression) -> Expression:
        value = float(b.detail[0]) if b.op == "constant" else None
        if value in _POWERS:
            return _POWERS[value](context, a)
        return context.make("pow", context.kind, a, b)

    return context.elementwise(raised, x, exponent, kinds=context.kind)


_POWERS: dict[float | None, Callable[[Context, Expression], Expression]] = {
    0.0: lambda context, a: context.make.constant(1, a.kind),
    1.0: lambda context, a: a,
    2.0: lambda context, a: context.times(a, a),
    3.0: lambda context, a: context.times(context.times(a, a), a),
    0.5: lambda context, a: context.make("sqrt", a.kind, a),
    -1.0: lambda context, a: context.make("reciprocal", a.kind, a),
}


def _where(context: Context, mask: Array, x: Any, y: Any) -> Array:
    kinds = ["bool", context.kind, context.kind]
    return context.elementwise(
        lambda c, a, b: context.make("where", context.kind, c, a, b), mask, x, y, kinds=kinds
    )


def _masked_fill(context: Context, x: Array, mask: Array, value: Any) -> Array:
    return _where(context, mask, value, x)


def _clamp(context: Context, x: Array, low: Any = None, high: Any = None, **named: Any) -> Array:
    low, high = named.get("min", low), named.get("max", high)
    if low is not None:
        x = _binary("atleast")(context, x, low)
    return x if high is None else _binary("atmost")(context, x, high)


def _sigmoid_backward(context: Context, gradient: Array, y: Array) -> Array:
    one = context.make.constant(1, context.kind)

    def product(g: Expression, s: Expression) -> Expression:
        return context.times(context.times(g, context.make("sub", s.kind, one, s)), s)

    return context.elementwise(product, gradient, y, kinds=context.kind)


def _tanh_backward(context: Context, gradient: Array, y: Array) -> Array:
    one = context.make.constant(1, context.kind)

    def product(g: Expression, t: Expression) -> Expression:
        return context.times(g, context.make("sub", t.kind, one, context.times(t, t)))

    return context.elementwise(product, gradient, y, kinds=context.kind)


def _threshold_backward(context: Context, gradient: Array, x: Array, threshold: float) -> Array:
    zero, limit = context.make.constant(0, context.kind), context.make.constant(threshold, context.kind)

    def passed(g: Expression, a: Expression) -> Expression:
        return context.make("where", g.kind, context.make("le", "bool", a, limit), zero, g)

    return context.elementwise(passed, gradient, x, kinds=context.kind)


def _relu(context: Context, x: Array) -> Array:
    return _binary("atleast")(context, x, 0)


def _copy(context: Context, x: Array, *_: Any, **__: Any) -> Array:
    return context.cast(x, context.kind)


def _overwrite(context: Context, target: Array, source: Array, *_: Any) -> Array:
    return context.cast(source.expanded(target.shape, target.labels), context.kind)


# -- sums ----------------------------------------------------------------------------------------


def _sum(context: Context, x: Array, axes: Any = None, keep: bool = False, **_: Any) -> Array:
    axes = axes or range(x.ndim)
    return context.summed(context.cast(x, context.kind), axes, keep)


def _mean(context: Context, x: Array, axes: Any = None, keep: bool = False, **_: Any) -> Array:
    axes = axes or list(range(x.ndim))
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    return _divided(context, context.summed(context.cast(x, context.kind), axes, keep), count)


def _divided(context: Context, x: Array, count: float) -> Array:
    return context.elementwise(lambda a, b: context.make("div", a.kind, a, b), x, count, kinds=context.kind)


def _variance(
    context: Context, x: Array, axes: Any = None, correction: Any = 1, keepdim: bool = False
) -> Array:
    axes = axes or list(range(x.ndim))
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    mean = _divided(context, context.summed(x, axes, True), count)
    off = context.elementwise(lambda a, b: context.make("sub", a.kind, a, b), x, mean, kinds=context.kind)
    square = context.elementwise(context.times, off, off, kinds=context.kind)
    return _divided(context, context.summed(square, axes, keepdim), count - correction)


def _bmm(context: Context, x: Array, y: Array) -> Array:
    """`models x a x k` by `models x k x b`."""
    product = context.elementwise(context.times, x.unsqueezed(3), y.unsqueezed(1), kinds=context.kind)
    return context.summed(product, [2], False)


OPERATIONS: dict[str, Lower] = {
    **VIEWS,
    **{f"{name}.default": _unary(op) for name, op in {
        "abs": "abs", "neg": "neg", "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh",
        "sigmoid": "sigmoid", "sin": "sin", "cos": "cos", "erf": "erf", "erfinv": "erfinv", "floor": "floor",
        "reciprocal": "reciprocal", "sign": "sign", "sgn": "sign", "log1p": "log1p", "expm1": "expm1",
        "rsqrt": "rsqrt", "round": "round",
    }.items()},
    **{f"{name}.{overload}": lower for name, lower in {
        "add": _add, "sub": _sub, "rsub": _rsub, "mul": _binary("mul"), "div": _binary("div"),
        "bitwise_xor": _binary("xor"), "bitwise_and": _binary("and"), "bitwise_or": _binary("or"),
        "__rshift__": _binary("shift"), "eq": _compare("eq"), "ne": _compare("ne"), "lt": _compare("lt"),
        "le": _compare("le"), "gt": _compare("lt", True), "ge": _compare("le", True),
    }.items() for overload in ("Tensor", "Scalar")},
    "maximum.default": _binary("max"),
    "minimum.default": _binary("min"),
    "pow.Tensor_Scalar": _power,
    "pow.Tensor_Tensor": _power,
    "pow.Scalar": _power,
    "where.self": _where,
    "where.ScalarOther": _where,
    "where.ScalarSelf": _where,
    "masked_fill.Scalar": _masked_fill,
    "masked_fill.Tensor": _masked_fill,
    "clamp.default": _clamp,
    "clamp.Tensor": _clamp,
    "clamp_min.default": _clamp,
    "relu.default": _relu,
    "logical_and.default": _logical("and"),
    "logical_or.default": _logical("or"),
    "logical_not.default": _logical("not"),
    "sigmoid_backward.default": _sigmoid_backward,
    "tanh_backward.default": _tanh_backward,
    "threshold_backward.default": _threshold_backward,
    "_to_copy.default": _copy,
    "clone.default": _copy,
    "copy.default": _overwrite,
    "sum.default": _sum,
    "sum.dim_IntList": _sum,
    "mean.dim": _mean,
    "mean.default": _mean,
    "var.correction": _variance,
    "bmm.default": _bmm,
}  # fmt: skip
"""By the name of the operator; operations that write into a tensor have the name of those that do not."""
