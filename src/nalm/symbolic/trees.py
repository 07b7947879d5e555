"""The arguments of an operation: tensors inside lists, tuples and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def leaves(tree: Any) -> Iterator[Any]:
    """Everything that is not itself a list, a tuple or a dictionary, in order."""
    if type(tree) in (list, tuple):
        for part in tree:
            yield from leaves(part)
    elif type(tree) is dict:
        yield from leaves(list(tree.values()))
    else:
        yield tree


def changed(kind: type, change: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree with every leaf of this kind changed."""
    if type(tree) in (list, tuple):
        return type(tree)(changed(kind, change, part) for part in tree)
    if type(tree) is dict:
        return {name: changed(kind, change, part) for name, part in tree.items()}
    return change(tree) if isinstance(tree, kind) else tree
