"""The search for expressions that give a target, from both ends.

Forwards, all expressions of few steps are listed by their values (`Values`). Backwards, the last step is
undone: if the target is u + v, and v is listed, then u is the difference, and is looked up. A target of k
steps is found among all values u and v whose steps together are k - 1. For more steps than that can reach,
an input is taken off first, and the rest is searched for in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from nalm.discover.level import Level, up_to_sign
from nalm.discover.realise import INPUT, Named, realised
from nalm.discover.values import Values
from nalm.symbolic.expression_graph import ExpressionGraph

_AT_ONCE = 200_000
"""The most targets that are looked up at once."""


@dataclass(frozen=True)
class Undone:
    """A way to undo the last step of a target.

    Attributes:
        op: the operation of that step.
        swapped: whether the value that is taken off is its first operand.
        rest: the other operand, from the target and the value.
        of_sum: whether the rest is a difference, whose rounding is that of the larger number.
    """

    op: str
    swapped: bool
    rest: Callable[[np.ndarray, np.ndarray], np.ndarray]
    of_sum: bool = False


_UNDOING = (
    Undone("add", False, lambda y, v: y - v, of_sum=True),
    Undone("sub", False, lambda y, v: y + v, of_sum=True),
    Undone("mul", False, lambda y, v: y / v),
    Undone("div", False, lambda y, v: y * v),
    Undone("div", True, lambda y, v: v / y),
    Undone("inverse", False, lambda y, v: 1 / (y * v)),
)
_ALONE = (
    Undone("add", False, lambda y, _: y / 2),
    Undone("mul", False, lambda y, _: np.sqrt(y)),
    Undone("inverse", False, lambda y, _: 1 / np.sqrt(y)),
    Undone("reciprocal", False, lambda y, _: 1 / y),
)
"""Steps of a single operand, which may be read twice."""


@dataclass
class Search:
    """The search for one target.

    Attributes:
        values: what expressions of few steps can be.
        target: the target on the rows of the values, `rows`.
        precision: how far off a value may be, relative to the numbers it is computed from.
        deadline: the time, by `time.monotonic`, at which to give up.
        most: the most expressions to return for one number of steps.
    """

    values: Values
    target: np.ndarray
    precision: float
    deadline: float = float("inf")
    most: int = 2000
    _numbers: int = field(default=-1, init=False)

    def graphs(self, steps: int) -> Iterator[ExpressionGraph]:
        """Expressions of so many steps whose values are those of the target."""
        known: set[tuple[Named, ...]] = set()
        target = up_to_sign(self.target[None])[0]
        for found in self._found(target, steps):
            if found in known:
                continue
            known.add(found)
            yield realised(found, self.values.rows[0], float(self.target[0]))
            if len(known) >= self.most:
                return

    def graph_of(self, index: int) -> ExpressionGraph:
        """The expression of a listed value, with the sign that is closer to the target."""
        value, target = self.values.at(np.array([index]))[0], self.target
        turned = np.abs(value + target).sum() < np.abs(value - target).sum()
        return realised(self._listed(index), self.values.rows[0], -1.0 if turned else 1.0)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline

    def _found(self, target: np.ndarray, steps: int) -> Iterator[tuple[Named, ...]]:
        """The steps of every expression found for a target that is positive in the first row."""
        if steps <= self.values.depth:
            tolerance = self.precision * np.abs(target)
            for _, indices in self.values.levels[steps].near(target[None], tolerance[None]):
                yield from map(self._listed, indices.tolist())
            return
        yield from self._by_one(target, steps)
        for taken in range(min(self.values.depth, steps - 1) + 1):
            yield from self._by_two(target, steps, taken)
        if steps - 1 > self.values.depth:
            yield from self._input_taken_off(target, steps)

    def _by_one(self, target: np.ndarray, steps: int) -> Iterator[tuple[Named, ...]]:
        """The last step reads one value."""
        for way in (way for way in _ALONE if way.op in self.values.ops):
            with np.errstate(all="ignore"):
                rest = way.rest(target, target)
            if np.isfinite(rest).all():
                for found in self._found(rest, steps - 1):
                    yield self._with_last(found, way.op)

    def _by_two(self, target: np.ndarray, steps: int, taken: int) -> Iterator[tuple[Named, ...]]:
        """The last step reads a value of level `taken` and one of that level or above."""
        level = self.values.levels[taken]
        least, most = max(taken, steps - 1 - taken), min(self.values.depth, steps - 1)
        for others in self.values.levels[least : most + 1]:
            for way in (way for way in _UNDOING if way.op in self.values.ops):
                for v, u in self._pairs(target, level, others, way):
                    together = self.values.steps_of(u) | self.values.steps_of(v)
                    if len(together) == steps - 1:
                        left, right = (v, u) if way.swapped else (u, v)
                        yield (*self._ordered(together), (-1, *self._as_read(way, left, right, target)))

    def _pairs(
        self, target: np.ndarray, level: Level, others: Level, way: Undone
    ) -> Iterator[tuple[int, int]]:
        """Values v of a level and u of another such that a step of both gives the target."""
        for first in range(0, len(level), _AT_ONCE):
            if self.is_late:
                return
            some = level.values[first : first + _AT_ONCE]
            with np.errstate(all="ignore"):
                rest = way.rest(target, some)
                size = np.abs(target) + np.abs(some) if way.of_sum else np.abs(rest)
                usable = np.isfinite(rest).all(1) & (rest[:, 0] != 0)
            places = np.flatnonzero(usable)
            rests = up_to_sign(rest[places])
            for which, indices in others.near(rests, self.precision * size[places]):
                for k, u in zip(places[which].tolist(), indices.tolist()):
                    yield level.start + first + k, u

    def _as_read(self, way: Undone, left: int, right: int, target: np.ndarray) -> tuple[str, int, int]:
        """The last step: a sum of values that are known up to sign may be a difference."""
        if way.op != "add":
            return way.op, left, right
        u, v = self.values.at(np.array([left, right]))
        return (
            ("add", left, right)
            if abs(u[0] + v[0] - target[0]) < abs(abs(u[0] - v[0]) - target[0])
            else ("sub", left, right)
        )

    def _input_taken_off(self, target: np.ndarray, steps: int) -> Iterator[tuple[Named, ...]]:
        """The last step reads an input and something of more steps than are listed."""
        for way in (way for way in _UNDOING if way.op in self.values.ops):
            for k, column in enumerate(self.values.levels[0].values):
                if self.is_late:
                    return
                with np.errstate(all="ignore"):
                    rest = way.rest(target, column)
                if not np.isfinite(rest).all() or rest[0] == 0:
                    continue
                turned = rest[0] < 0
                op = "sub" if way.op == "add" and turned else way.op
                for found in self._found(-rest if turned else rest, steps - 1):
                    yield self._with_last(found, op, k, swapped=way.swapped)

    def _with_last(
        self, found: tuple[Named, ...], op: str, column: int | None = None, *, swapped: bool = False
    ) -> tuple[Named, ...]:
        """Steps of the rest, and the one that was undone, which reads the rest once or twice."""
        self._numbers -= 1
        renamed = tuple((self._numbers if step[0] == -1 else step[0], *step[1:]) for step in found)
        rest = renamed[-1][0]
        other = rest if column is None else column
        return (*renamed, (-1, op, *((other, rest) if swapped else (rest, other))))

    def _listed(self, index: int) -> tuple[Named, ...]:
        """The steps of a value; an input has one that does nothing."""
        return self._ordered(self.values.steps_of(index)) or ((index, INPUT, index, index),)

    def _ordered(self, indices: frozenset[int]) -> tuple[Named, ...]:
        """Steps of values in an order in which each comes after what it reads."""
        return tuple((k, *self.values.step(k)) for k in sorted(indices))  # type: ignore[misc]
