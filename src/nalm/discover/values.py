"""What expressions of few steps can be, as numbers: the values of all of them on a few rows.

Values are kept up to sign, because sums can turn signs round at no cost; the sign that a graph needs is
settled when the graph is made (see `realise`). Level k holds the expressions of exactly k steps. A step of
level k reads two values whose steps together are k - 1: an input and a value of level k - 1, that value and
one of its own steps, or two values that share no step.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from nalm.discover.level import Level
from nalm.symbolic.expression_graph import SIGNS, SUM, applied

PAIRWISE = tuple(op for op, (_, _, second) in SIGNS.items() if second and op != "minus")
"""Operations on two values up to sign; `div` is applied both ways round."""
_SYMMETRIC = {op for op in PAIRWISE if SIGNS[op][1] == SIGNS[op][2]}
_FAMILY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "minus": "sub", "inverse": "div"}
_FAMILY |= {"negative": "sub", "reciprocal": "div"}
"""The operation of the user's list that allows one of a step."""


def allowed_operations(ops: Sequence[str]) -> tuple[str, ...]:
    """The operations of a step that a list of add, sub, mul and div allows."""
    return tuple(op for op in SIGNS if _FAMILY[op] in ops)


@dataclass
class Values:
    """The values of all expressions of few steps.

    Attributes:
        rows: the inputs on some rows, `rows x inputs`.
        ops: operations of a step.
        most: the most values of a level.
        levels: level k holds the values of k steps; made one after the other by `deepen`.
    """

    rows: np.ndarray
    ops: tuple[str, ...]
    most: int
    levels: list[Level] = field(default_factory=list)
    _starts: list[int] = field(default_factory=lambda: [0], init=False, repr=False)
    _steps: dict[int, frozenset[int]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        inputs = self.rows.shape[1]
        nothing = np.full(inputs, -1, dtype=np.int32)
        codes = np.full(inputs, -1, dtype=np.int8)
        self.levels = [Level.of(0, self.rows.T, codes, nothing, nothing)]

    @property
    def depth(self) -> int:
        """The number of steps of the deepest level."""
        return len(self.levels) - 1

    def deepen(self) -> bool:
        """Add the next level; False, and nothing added, if it would have too many values."""
        pairs = list(self._pairs())
        variants = len(self.ops) + ("div" in self.ops)
        if sum(len(left) for left, _ in pairs) * variants > self.most:
            return False
        made = [part for left, right in pairs for part in self._combined(left, right)]
        made += list(self._alone())
        start = sum(map(len, self.levels))
        joined = [np.concatenate(part) for part in zip(*made)]
        self.levels.append(Level.of(start, *joined))
        self._starts.append(start)
        return True

    def level_of(self, index: int) -> int:
        """The level that a value belongs to."""
        return bisect.bisect_right(self._starts, index) - 1

    def step(self, index: int) -> tuple[str, int, int] | None:
        """Operation and operands of a value; None for an input."""
        level = self.levels[self.level_of(index)]
        code = int(level.codes[index - level.start])
        if code < 0:
            return None
        return tuple(SIGNS)[code], int(level.left[index - level.start]), int(level.right[index - level.start])

    def steps_of(self, index: int) -> frozenset[int]:
        """All values that are computed on the way to this one, itself included, but not the inputs."""
        if index not in self._steps:
            step = self.step(index)
            before = (self.steps_of(operand) for operand in step[1:]) if step is not None else ()
            self._steps[index] = frozenset().union({index} if step is not None else (), *before)
        return self._steps[index]

    def at(self, indices: np.ndarray) -> np.ndarray:
        """The values, up to sign, on the rows: `values x rows`."""
        found = np.empty((len(indices), len(self.rows)))
        for level in self.levels:
            here = (indices >= level.start) & (indices < level.start + len(level))
            found[here] = level.values[indices[here] - level.start]
        return found

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Operands of the next level, as pairs of indices."""
        last, inputs = self.levels[-1], self.levels[0]
        own = np.arange(last.start, last.start + len(last), dtype=np.int32)
        if self.depth == 0:
            left, right = np.triu_indices(len(inputs))
            yield left.astype(np.int32), right.astype(np.int32)
            return
        yield _product(own, np.arange(len(inputs), dtype=np.int32))
        yield own, own
        if self.depth >= 2:  # a value and one of its own steps
            for child in (last.left, last.right):
                is_step = child >= len(inputs)
                yield own[is_step], child[is_step]
        for k in range(1, (self.depth + 1) // 2 + 1):
            yield from self._apart(k, self.depth - k)

    def _apart(self, few: int, many: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of values of two levels that have so many steps together."""
        if not 1 <= few <= many:
            return
        a, b = (
            np.arange(level.start, level.start + len(level), dtype=np.int32)
            for level in (self.levels[few], self.levels[many])
        )
        left, right = _product(b, a)
        apart = left > right if few == many else np.ones(len(left), bool)
        yield left[apart], right[apart]

    def _combined(self, left: np.ndarray, right: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """All operations on pairs of values: values, codes, operands."""
        a, b = self.at(left), self.at(right)
        same = left == right
        for op in (op for op in self.ops if op in PAIRWISE):
            whole = ~same if op not in _SYMMETRIC else slice(None)
            yield _made(op, a[whole], b[whole], left[whole], right[whole])
            if op == "div":
                yield _made(op, b[whole], a[whole], right[whole], left[whole])

    def _alone(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Reciprocals of inputs and of sums; those of products are products already."""
        last = self.levels[-1]
        own = np.arange(last.start, last.start + len(last), dtype=np.int32)
        if "reciprocal" in self.ops:
            sums = [code for code, (kind, *_) in enumerate(SIGNS.values()) if kind == SUM]
            chosen = own[np.isin(last.codes, [-1, *sums])]
            a = self.at(chosen)
            yield _made("reciprocal", a, a, chosen, chosen)


def _made(
    op: str, a: np.ndarray, b: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values of an operation, its code and its operands."""
    with np.errstate(all="ignore"):
        values = applied(op, a, b)
    return values, np.full(len(left), tuple(SIGNS).index(op), dtype=np.int8), left, right


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs."""
    return np.repeat(a, len(b)), np.tile(b, len(a))
