"""Arithmetic expressions of a given depth, for CalcNet: written with brackets where precedence needs them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

OPERATIONS = "+-*/"
_TIGHT = {"+": 1, "-": 1, "*": 2, "/": 2}
_LARGEST = 10**9
"""The largest magnitude of a value inside an expression, and of the inverse of one."""


@dataclass(frozen=True)
class Node:
    """A number, or an operation on two nodes.

    Attributes:
        value: its exact value.
        text: as it is written.
        tight: how tightly its operation binds; 3 for a number.
        depth: operations on the longest way to a number.
    """

    value: Fraction
    text: str
    tight: int = 3
    depth: int = 0


def expressions(depth: int, count: int, most: int, seed: int = 0) -> list[Node]:
    """Different expressions of a depth, of whole numbers from 2 to `most`; no value inside them is zero."""
    generator = np.random.default_rng([seed, depth])
    found: dict[str, Node] = {}
    while len(found) < count:
        node = _drawn(generator, depth, most)
        if node is not None:
            found[node.text] = node
    return list(found.values())


def _drawn(generator: np.random.Generator, depth: int, most: int) -> Node | None:
    """An expression; None if a value inside it is zero or too large or small."""
    if depth == 0:
        number = int(generator.integers(2, most + 1))
        return Node(Fraction(number), str(number))
    sides = [_drawn(generator, depth - 1, most), _drawn(generator, int(generator.integers(0, depth)), most)]
    if generator.random() < 0.5:
        sides.reverse()
    left, right = sides
    op = str(generator.choice(list(OPERATIONS)))
    return None if left is None or right is None else joined(op, left, right)


def joined(op: str, left: Node, right: Node) -> Node | None:
    """Two nodes and an operation; None if the value is zero, or too large or small."""
    value = _computed(op, left.value, right.value)
    if value == 0 or not Fraction(1, _LARGEST) <= abs(value) <= _LARGEST:
        return None
    tight = _TIGHT[op]
    # What binds less is bracketed; on the right also what binds as much, as in a - (b - c).
    first = f"({left.text})" if left.tight < tight else left.text
    second = f"({right.text})" if right.tight <= tight else right.text
    return Node(value, f"{first}{op}{second}", tight, 1 + max(left.depth, right.depth))


def _computed(op: str, left: Fraction, right: Fraction) -> Fraction:
    if op == "/":
        return left / right
    return {"+": left + right, "-": left - right, "*": left * right}[op]
