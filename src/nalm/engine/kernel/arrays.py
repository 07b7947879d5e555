"""Tensors as arrays of expressions: short axes are written out, long ones are loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.engine.kernel.expressions import Expression
from nalm.engine.kernel.unsupported import Unsupported

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Array:
    """A tensor.

    Attributes:
        elements: expressions; an axis that is a loop has size 1 here.
        labels: for each axis, the loop that it is, or None for one that is written out.
        shape: the sizes of the tensor.
    """

    elements: np.ndarray
    labels: Labels
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        loops = [label for label in self.labels if label]
        if len(set(loops)) < len(loops):
            raise Unsupported("two axes of one tensor are the same loop")

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def axis(self, axis: int) -> int:
        """An axis, counted from the front."""
        return axis % max(1, self.ndim)

    def mapped(self, function: Callable[[Expression], Expression]) -> Array:
        """A function of every element."""
        return Array(as_array(np.frompyfunc(function, 1, 1)(self.elements)), self.labels, self.shape)

    def collapsed(self, axis: int) -> Array:
        """A loop along which nothing varies any more as an axis of size 1."""
        labels = (*self.labels[:axis], None, *self.labels[axis + 1 :])
        return Array(self.elements, labels, (*self.shape[:axis], 1, *self.shape[axis + 1 :]))

    # -- views -----------------------------------------------------------------------------------

    def permuted(self, order: Sequence[int]) -> Array:
        """The axes in another order."""
        order = [self.axis(axis) for axis in order]
        return Array(
            self.elements.transpose(order),
            tuple(self.labels[axis] for axis in order),
            tuple(self.shape[axis] for axis in order),
        )

    def unsqueezed(self, axis: int) -> Array:
        """With one more axis of size 1."""
        axis %= self.ndim + 1
        labels, shape = list(self.labels), list(self.shape)
        labels.insert(axis, None)
        shape.insert(axis, 1)
        return Array(np.expand_dims(self.elements, axis), tuple(labels), tuple(shape))

    def squeezed(self, axes: Sequence[int]) -> Array:
        """Without those of these axes that have size 1."""
        gone = {self.axis(axis) for axis in axes if self.shape[self.axis(axis)] == 1}
        kept = [axis for axis in range(self.ndim) if axis not in gone]
        elements = self.elements.reshape([self.elements.shape[axis] for axis in kept])
        return Array(elements, tuple(self.labels[k] for k in kept), tuple(self.shape[k] for k in kept))

    def selected(self, axis: int, index: int) -> Array:
        """One element of an axis."""
        axis = self.axis(axis)
        if self.labels[axis]:
            raise Unsupported("one element of a loop is picked")
        labels, shape = list(self.labels), list(self.shape)
        del labels[axis], shape[axis]
        return Array(as_array(self.elements.take(index, axis)), tuple(labels), tuple(shape))

    def sliced(self, axis: int, part: slice) -> Array:
        """A part of an axis."""
        axis = self.axis(axis)
        size = len(range(*part.indices(self.shape[axis])))
        if size == self.shape[axis] and part.step in (None, 1):
            return self
        if self.labels[axis]:
            raise Unsupported("a loop is cut")
        shape = list(self.shape)
        shape[axis] = size
        index = [slice(None)] * axis + [part]
        return Array(self.elements[tuple(index)], self.labels, tuple(shape))

    def expanded(self, shape: Sequence[int], labels: Labels) -> Array:
        """Axes of size 1 repeated, with further axes in front."""
        missing = len(shape) - self.ndim
        wanted = tuple(self.shape[k - missing] if size == -1 else size for k, size in enumerate(shape))
        own = (None,) * missing + self.labels
        held = (1,) * missing + self.shape
        found = tuple(own[k] if held[k] != 1 else labels[k] for k in range(len(wanted)))
        sizes = [1 if label else size for label, size in zip(found, wanted)]
        elements = self.elements.reshape((1,) * missing + self.elements.shape)
        return Array(np.broadcast_to(elements, sizes), found, wanted)

    def reshaped(self, shape: Sequence[int]) -> Array:
        """Another shape with the same elements in the same order; loops stay whole."""
        total = int(np.prod(self.shape, dtype=int))
        known = int(np.prod([size for size in shape if size != -1], dtype=int))
        wanted = [total // max(1, known) if size == -1 else size for size in shape]
        labels: list[str | None] = []
        ours = [(size, label) for size, label in zip(self.shape, self.labels) if size != 1]
        for size in wanted:
            label = None
            if size != 1:
                if not ours:
                    raise Unsupported("a shape that splits a loop")
                if ours[0][1]:
                    loop, label = ours.pop(0)
                    if loop != size:
                        raise Unsupported("a shape that splits or joins a loop")
                else:
                    _consume(ours, size)
            labels.append(label)
        sizes = [1 if label else size for label, size in zip(labels, wanted)]
        return Array(self.elements.reshape(sizes), tuple(labels), tuple(wanted))


def _consume(ours: list[tuple[int, str | None]], size: int) -> None:
    """Take `size` elements from the written-out axes in front of the list."""
    while size > 1:
        if not ours or ours[0][1]:
            raise Unsupported("a shape that joins a loop with other axes")
        first = ours[0][0]
        if first <= size and size % first == 0:
            ours.pop(0)
            size //= first
        elif first % size == 0:
            ours[0] = (first // size, None)
            size = 1
        else:
            ours[0] = (first * (ours[1][0] if len(ours) > 1 and not ours[1][1] else 0), None)
            if ours[0][0] == 0:
                raise Unsupported("a shape that cannot be followed")
            del ours[1]


def as_array(found: np.ndarray | Expression) -> np.ndarray:
    """An array, also of a single element, which numpy returns bare."""
    if isinstance(found, np.ndarray):
        return found
    made = np.empty((), dtype=object)
    made[()] = found
    return made


def joined(arrays: Sequence[Array], axis: int) -> Array:
    """Arrays one after the other along an axis."""
    arrays = [each for each in arrays if each.shape != (0,)]
    axis = arrays[0].axis(axis)
    if any(each.labels[axis] for each in arrays):
        raise Unsupported("loops are joined")
    labels = common_labels(arrays)
    elements = np.concatenate([each.elements for each in arrays], axis)
    shape = list(arrays[0].shape)
    shape[axis] = sum(each.shape[axis] for each in arrays)
    return Array(elements, labels, tuple(shape))


def common_labels(arrays: Sequence[Array]) -> Labels:
    """The labels of arrays that are broadcast against each other."""
    ndim = max(each.ndim for each in arrays)
    labels: list[str | None] = [None] * ndim
    written = [False] * ndim
    for each in arrays:
        for k, (label, size) in enumerate(zip(each.labels, each.shape), ndim - each.ndim):
            if size == 1:
                continue
            if label is None:
                written[k] = True
            elif labels[k] not in (None, label):
                raise Unsupported("two loops are one axis")
            else:
                labels[k] = label
    if any(label and explicit for label, explicit in zip(labels, written)):
        raise Unsupported("an axis is a loop in one tensor and written out in another")
    return tuple(labels)
