"""What each of torch's operations is in terms of single numbers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nalm.engine.kernel.arrays import Array, common_labels, joined
from nalm.engine.kernel.expressions import Expression
from nalm.engine.kernel.lower import Context
from nalm.engine.kernel.unsupported import Unsupported

Lower = Callable[..., Any]


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
    axes = range(x.ndim) if not axes else axes
    return context.summed(context.cast(x, context.kind), axes, keep)


def _mean(context: Context, x: Array, axes: Any = None, keep: bool = False, **_: Any) -> Array:
    axes = list(range(x.ndim)) if not axes else axes
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    return _divided(context, context.summed(context.cast(x, context.kind), axes, keep), count)


def _divided(context: Context, x: Array, count: float) -> Array:
    return context.elementwise(lambda a, b: context.make("div", a.kind, a, b), x, count, kinds=context.kind)


def _variance(
    context: Context, x: Array, axes: Any = None, correction: Any = 1, keepdim: bool = False
) -> Array:
    axes = list(range(x.ndim)) if not axes else axes
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    mean = _divided(context, context.summed(x, axes, True), count)
    off = context.elementwise(lambda a, b: context.make("sub", a.kind, a, b), x, mean, kinds=context.kind)
    square = context.elementwise(context.times, off, off, kinds=context.kind)
    return _divided(context, context.summed(square, axes, keepdim), count - correction)


def _bmm(context: Context, x: Array, y: Array) -> Array:
    """`models x a x k` by `models x k x b`."""
    product = context.elementwise(context.times, x.unsqueezed(3), y.unsqueezed(1), kinds=context.kind)
    return context.summed(product, [2], False)


# -- views ---------------------------------------------------------------------------------------


def _same(context: Context, x: Array, *_: Any, **__: Any) -> Array:
    return x


def _view(context: Context, x: Array, shape: Sequence[int]) -> Array:
    return x.reshaped(shape)


def _permute(context: Context, x: Array, order: Sequence[int]) -> Array:
    return x.permuted(order)


def _transpose(context: Context, x: Array, first: int, second: int) -> Array:
    order = list(range(x.ndim))
    first, second = x.axis(first), x.axis(second)
    order[first], order[second] = second, first
    return x.permuted(order)


def _expand(context: Context, x: Array, shape: Sequence[int], **_: Any) -> Array:
    return x.expanded(shape, context.loops_of(shape))


def _unsqueeze(context: Context, x: Array, axis: int) -> Array:
    return x.unsqueezed(axis)


def _squeeze(context: Context, x: Array, axes: Any = None) -> Array:
    axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    return x.squeezed(list(axes))


def _select(context: Context, x: Array, axis: int, index: int) -> Array:
    return context.one_of(x, axis, index).selected(axis, 0 if x.labels[x.axis(axis)] else index)


def _slice(
    context: Context, x: Array, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Array:
    places = range(x.shape[x.axis(axis)])[start:end:step]
    if len(places) == 1 and x.labels[x.axis(axis)]:
        return context.one_of(x, axis, places[0])
    return x.sliced(axis, slice(start, end, step))


def _index(context: Context, x: Array, given: Sequence[Array | None]) -> Array:
    """Rows of a short axis, by numbers that depend on no input."""
    found = [(axis, each) for axis, each in enumerate(given) if each is not None]
    if len(found) != 1 or found[0][1].labels != (None,) or x.labels[found[0][0]]:
        raise Unsupported("rows that are picked by number")
    ((axis, rows),) = found
    numbers = [each.detail[0] if each.op == "constant" else None for each in rows.elements.flat]
    if any(number is None for number in numbers):
        raise Unsupported("rows that are picked by a number that depends on an input")
    shape = (*x.shape[:axis], len(numbers), *x.shape[axis + 1 :])
    return Array(x.elements.take(numbers, axis), x.labels, shape)


def _unbind(context: Context, x: Array, axis: int = 0) -> list[Array]:
    return [x.selected(axis, k) for k in range(x.shape[x.axis(axis)])]


def _split(context: Context, x: Array, size: int, axis: int = 0) -> list[Array]:
    whole = x.shape[x.axis(axis)]
    return _split_with_sizes(context, x, [min(size, whole - k) for k in range(0, whole, size)], axis)


def _split_with_sizes(context: Context, x: Array, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    ends = list(itertools.accumulate(sizes, initial=0))
    return [x.sliced(axis, slice(a, b)) for a, b in itertools.pairwise(ends)]


def _stack(context: Context, given: Sequence[Array], axis: int = 0) -> Array:
    return _cat(context, [each.unsqueezed(axis) for each in given], axis)


def _cat(context: Context, given: Sequence[Array], axis: int = 0) -> Array:
    given = [context.cast(each, context.kind) for each in given]
    labels = list(common_labels(given))
    axis = given[0].axis(axis)
    whole = [each.expanded(each.shape, tuple(labels)) for each in given]
    return joined(whole, axis)


def _select_backward(context: Context, gradient: Array, shape: Sequence[int], axis: int, index: int) -> Array:
    gradient = gradient.unsqueezed(axis % len(shape))
    return _placed(
        context, gradient, shape, axis % len(shape), range(index % shape[axis], index % shape[axis] + 1)
    )


def _slice_backward(
    context: Context, gradient: Array, shape: Sequence[int], axis: int, start: int, end: int, step: int
) -> Array:
    return _placed(context, gradient, shape, axis % len(shape), range(shape[axis])[start:end:step])


def _placed(context: Context, part: Array, shape: Sequence[int], axis: int, where: range) -> Array:
    """Zeros of a shape, with a part of them replaced along an axis."""
    if len(where) == shape[axis]:
        return part
    if context.sizes.label(shape[axis]):
        raise Unsupported("a part of a loop is replaced")
    labels = (*part.labels[:axis], None, *part.labels[axis + 1 :])
    sizes = [1 if label else size for label, size in zip(labels, shape)]
    elements = np.full(sizes, context.make.constant(0, context.kind))
    elements[(slice(None),) * axis + (list(where),)] = part.elements
    return Array(elements, labels, tuple(shape))


OPERATIONS: dict[str, Lower] = {
    **{f"{name}.default": _unary(op) for name, op in {
        "abs": "abs", "neg": "neg", "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh",
        "sigmoid": "sigmoid", "sin": "sin", "cos": "cos", "erf": "erf", "erfinv": "erfinv", "floor": "floor",
        "reciprocal": "reciprocal", "sign": "sign", "sgn": "sign", "log1p": "log1p", "expm1": "expm1",
        "rsqrt": "rsqrt",
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
    "detach.default": _same,
    "alias.default": _same,
    "lift_fresh.default": _same,
    "view.default": _view,
    "_unsafe_view.default": _view,
    "reshape.default": _view,
    "permute.default": _permute,
    "transpose.int": _transpose,
    "t.default": functools.partial(_transpose, first=0, second=1),
    "expand.default": _expand,
    "unsqueeze.default": _unsqueeze,
    "squeeze.dim": _squeeze,
    "squeeze.dims": _squeeze,
    "squeeze.default": _squeeze,
    "select.int": _select,
    "slice.Tensor": _slice,
    "index.Tensor": _index,
    "unbind.int": _unbind,
    "split.Tensor": _split,
    "split_with_sizes.default": _split_with_sizes,
    "stack.default": _stack,
    "cat.default": _cat,
    "select_backward.default": _select_backward,
    "slice_backward.default": _slice_backward,
}  # fmt: skip
"""By the name of the operator; operations that write into a tensor have the name of those that do not."""
