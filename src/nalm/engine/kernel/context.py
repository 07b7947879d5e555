"""What the lowering of operations shares: the sizes of loops, and arrays of expressions made from numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nalm.engine.kernel.arrays import Array, Labels, as_array, common_labels
from nalm.engine.kernel.expressions import FEATURES, MODELS, SAMPLES, Expression, Expressions, kind_of
from nalm.engine.kernel.trace import Operation, Value
from nalm.engine.kernel.unsupported import Unsupported

MOST_ELEMENTS = 4000
"""An input with more numbers per model than this is no model for one loop."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the loops while tracing."""

    models: int
    samples: int
    features: int | None

    def label(self, size: int) -> str | None:
        """The loop of an axis of this size."""
        if size == self.models:
            return MODELS
        if size == self.samples:
            return SAMPLES
        return FEATURES if size == self.features else None

    def of(self, label: str) -> int:
        """The size of a loop."""
        found = {MODELS: self.models, SAMPLES: self.samples, FEATURES: self.features}[label]
        assert found is not None
        return found


class Context:
    """What the lowering of an operation needs: how to make expressions, and what is known of the result."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.make = Expressions()
        self.kind = "float"
        """The kind of the operation's result."""
        self.promoted = "float"
        """The kind that its arguments are brought to."""

    def for_operation(self, operation: Operation) -> Context:
        """Itself, with the kinds of an operation."""
        self.kind = kind_of(operation.results[0].dtype)
        self.promoted = kind_of(operation.promoted)
        return self

    def argument(self, argument: Any, arrays: dict[int, Array]) -> Any:
        """An argument with an array for every tensor."""
        if isinstance(argument, Value):
            if argument.number in arrays:
                return arrays[argument.number]
            if argument.constant is None:
                raise Unsupported("a value that no operation returns")
            return self.constant(argument.constant)
        if isinstance(argument, list):
            return [self.argument(each, arrays) for each in argument]
        return argument

    def input(self, index: int, value: Value) -> Array:
        """The leaves of an input."""
        labels = tuple(self.sizes.label(size) for size in value.shape)
        if MODELS in labels[1:]:
            raise Unsupported("an input with models elsewhere than first")
        kind = kind_of(value.dtype)
        shape = [1 if label else size for label, size in zip(labels, value.shape)]
        if np.prod(shape, dtype=int) > MOST_ELEMENTS:
            raise Unsupported("an input with very many elements")
        elements = np.empty(shape, dtype=object)
        loops = frozenset(label for label in labels if label in (SAMPLES, FEATURES))
        for element in np.ndindex(*shape):
            elements[element] = self.make.input(index, element, kind, loops)
        return Array(elements, labels, value.shape)

    def constant(self, tensor: torch.Tensor) -> Array:
        """A tensor of numbers that depend on no input."""
        kind = kind_of(tensor.dtype)
        numbers = tensor.numpy()
        labels = tuple(self.sizes.label(size) for size in numbers.shape)
        shape = [1 if label else size for label, size in zip(labels, numbers.shape)]
        elements = np.empty(shape, dtype=object)
        for element in np.ndindex(*shape):
            where = tuple(slice(None) if label else k for label, k in zip(labels, element))
            elements[element] = self._constant(
                numbers[where], tuple(label for label in labels if label), kind
            )
        return Array(elements, labels, tuple(tensor.shape))

    def _constant(self, numbers: np.ndarray, axes: tuple[str, ...], kind: str) -> Expression:
        """One number, or a counter along loops."""
        for axis in (MODELS, SAMPLES, FEATURES):  # drop the axes along which it does not vary
            if axis in axes:
                k = axes.index(axis)
                first = numbers.take([0], k)
                if (numbers == first).all():
                    numbers, axes = first.squeeze(k), axes[:k] + axes[k + 1 :]
        if not axes:
            return self.make.constant(numbers[()], kind)
        if MODELS in axes:
            raise Unsupported("a constant that differs between models")
        if kind == "int":
            found = _counter(numbers.astype(np.int64), axes)
            if found is not None:
                return self.make.counter(*found)
        raise Unsupported("a constant that varies along a loop")

    def elementwise(
        self, function: Callable[..., Expression], *given: Any, kinds: Sequence[str] | str
    ) -> Array:
        """A function of single numbers applied to arrays and numbers, which are cast to `kinds` first."""
        kinds = [kinds] * len(given) if isinstance(kinds, str) else kinds
        arrays = [
            self.cast(each, kind) if isinstance(each, Array) else self.number(each, kind)
            for each, kind in zip(given, kinds, strict=True)
        ]
        labels = common_labels(arrays)
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
        found = np.frompyfunc(function, len(arrays), 1)(*(each.elements for each in arrays))
        return Array(as_array(found), labels, tuple(shape))

    def number(self, value: Any, kind: str) -> Array:
        """A number as an array without axes."""
        return Array(as_array(self.make.constant(value, kind)), (), ())

    def cast(self, array: Array, kind: str) -> Array:
        """An array of another kind."""
        return array.mapped(lambda each: self.make.cast(each, kind))

    def summed(self, array: Array, axes: Sequence[int], keep: bool) -> Array:
        """Sums along axes."""
        axes = sorted({array.axis(axis) for axis in axes}, reverse=True)
        for axis in axes:
            array = self._summed(array, axis)
            if not keep:
                array = array.squeezed([axis])
        return array

    def _summed(self, array: Array, axis: int) -> Array:
        """The sum along one axis, which then has size 1."""
        label, size = array.labels[axis], array.shape[axis]
        if label == MODELS:
            raise Unsupported("a sum over models")
        if label:
            return array.mapped(lambda each: self.make.total(each, label, size)).collapsed(axis)
        parts = [array.sliced(axis, slice(k, k + 1)) for k in range(size)]
        total = functools.reduce(np.frompyfunc(self.plus, 2, 1), [part.elements for part in parts])
        return Array(total, parts[0].labels, parts[0].shape)

    def one_of(self, array: Array, axis: int, index: int) -> Array:
        """One place of the axis of features, which then has size 1; other axes are left as they are."""
        axis = array.axis(axis)
        if array.labels[axis] != FEATURES:
            return array
        place = index % array.shape[axis]
        return array.mapped(lambda each: self.make.at(each, FEATURES, place)).collapsed(axis)

    def plus(self, a: Expression, b: Expression) -> Expression:
        """The sum of two numbers of one kind."""
        return self.make("add", a.kind, a, b)

    def times(self, a: Expression, b: Expression) -> Expression:
        """The product of two numbers of one kind."""
        return self.make("mul", a.kind, a, b)

    def loops_of(self, shape: Sequence[int]) -> Labels:
        """The loops of a new tensor of this shape."""
        return tuple(self.sizes.label(size) for size in shape)


def _counter(numbers: np.ndarray, axes: tuple[str, ...]) -> tuple[int, tuple[tuple[str, int], ...]] | None:
    """Start and strides of whole numbers that grow evenly along their axes, modulo 2**32; None if not."""
    start = int(numbers.flat[0])
    expected, along = np.full(numbers.shape, start), []
    for k, axis in enumerate(axes):
        second = numbers[tuple(int(j == k) for j in range(len(axes)))]
        stride = int(second) - start
        along.append((axis, stride))
        shape = [-1 if j == k else 1 for j in range(len(axes))]
        expected = expected + (np.arange(numbers.shape[k]) * stride).reshape(shape)
    return (start, tuple(along)) if ((expected - numbers) % 2**32 == 0).all() else None
