"""Expressions of any number of steps, drawn one after the other from a fixed stream.

Every step is one of the operations on two lines, inputs or earlier steps, all equally likely; every step but
the last is read by a later one, so that none is idle. An expression is left out if it equals an earlier one,
has a step x - x or x / x, or does not depend on an input that it mentions, such as `a + b - b`.
"""

from __future__ import annotations

import functools
import random

from nalm.errors import ArgumentError
from nalm.symbolic.expression_graph import ExpressionGraph, Step

_TRIES = 100_000
"""A language is exhausted if so many drawings in a row give nothing new."""


def sampled_expression(steps: int, inputs: int, operations: tuple[str, ...], number: int) -> ExpressionGraph:
    """The expression of this number, from 0, among those of so many steps over so many inputs."""
    language = _language(steps, inputs, operations)
    while len(language.found) <= number:
        language.draw()
    return language.found[number]


class _Language:
    """The expressions of one language that have been drawn so far."""

    def __init__(self, steps: int, inputs: int, operations: tuple[str, ...]) -> None:
        self.steps, self.inputs, self.operations = steps, inputs, operations
        self.found: list[ExpressionGraph] = []
        self._known: set[tuple[int, ...]] = set()
        self._stream = random.Random(f"{steps} steps, {inputs} inputs, {'|'.join(operations)}")

    def draw(self) -> None:
        """Add one expression."""
        for _ in range(_TRIES):
            graph = self._drawn()
            fingerprint = graph.fingerprint
            if fingerprint is None or fingerprint in self._known or not _is_whole(graph):
                continue
            self._known.add(fingerprint)
            self.found.append(graph)
            return
        expected = (
            f"at most {len(self.found)}, all that {self.steps} steps over {self.inputs} inputs can give"
        )
        raise ArgumentError("op", expected, f"number {len(self.found)}, counted from 0")

    def _drawn(self) -> ExpressionGraph:
        steps = []
        for k in range(self.steps):
            op = self._stream.choice(self.operations)
            left, right = (self._stream.randrange(self.inputs + k) for _ in range(2))
            steps.append(Step(op, left, right))
        return ExpressionGraph(self.inputs, tuple(steps))


def _is_whole(graph: ExpressionGraph) -> bool:
    """Whether every step is needed, none is x - x or x / x, and every input that is mentioned matters."""
    idle = set(range(graph.inputs, graph.inputs + len(graph.steps))) - graph.needed
    trivial = any(step.op in ("sub", "div") and step.left == step.right for step in graph.steps)
    return not idle and not trivial and all(map(graph.depends_on, graph.used_inputs))


@functools.cache
def _language(steps: int, inputs: int, operations: tuple[str, ...]) -> _Language:
    return _Language(steps, inputs, operations)
