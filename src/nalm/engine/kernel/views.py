"""Operations that move numbers without changing them, and their gradients."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nalm.engine.kernel.arrays import Array, common_labels, joined
from nalm.engine.kernel.context import Context
from nalm.engine.kernel.unsupported import Unsupported

Lower = Callable[..., Any]
"""From the context and the arguments of an operation to its result, or to a list of its results."""


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
    if any(each.op != "constant" for each in rows.elements.flat):
        raise Unsupported("rows that are picked by a number that depends on an input")
    numbers = [int(each.detail[0]) for each in rows.elements.flat]
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
    axis %= len(shape)
    where = range(shape[axis])[index]
    return _placed(context, gradient.unsqueezed(axis), shape, axis, range(where, where + 1))


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


VIEWS: dict[str, Lower] = {
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
}
"""By the name of the operator."""
