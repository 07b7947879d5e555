"""Separate the shape of a recipe from its numbers, and put the numbers of many recipes into one shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any, NamedTuple


class _Number(NamedTuple):
    """Stands where a number was."""


class _Node(NamedTuple):
    kind: type
    children: tuple[Any, ...]


def split(tree: Any) -> tuple[Any, list[float]]:
    """The shape of a tree of dataclasses and tuples (hashable), and its numbers in order.

    Fields marked with metadata `shape` belong to the shape even if they are numbers.
    """
    numbers: list[float] = []
    return _shape(tree, numbers), numbers


def join(shape: Any, numbers: Iterator[Any]) -> Any:
    """The tree of this shape with the given numbers, which may be tensors with one value per model."""
    if isinstance(shape, _Number):
        return next(numbers)
    if not isinstance(shape, _Node):
        return shape
    children = [join(child, numbers) for child in shape.children]
    if shape.kind is tuple:
        return tuple(children)
    # Without the constructor: its checks are for Python numbers, and `tree` passed them when it was made.
    made: Any = object.__new__(shape.kind)
    for field, child in zip(fields(shape.kind), children, strict=True):
        object.__setattr__(made, field.name, child)
    return made


def _shape(tree: Any, numbers: list[float]) -> Any:
    if isinstance(tree, tuple):
        return _Node(tuple, tuple(_shape(child, numbers) for child in tree))
    if is_dataclass(tree) and not isinstance(tree, type):
        children = []
        for field in fields(tree):
            child = getattr(tree, field.name)
            children.append(child if field.metadata.get("shape") else _shape(child, numbers))
        return _Node(type(tree), tuple(children))
    if isinstance(tree, Real) and not isinstance(tree, bool):
        numbers.append(float(tree))
        return _Number()
    return tree
