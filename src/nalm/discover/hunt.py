"""The hunt for a formula: shorter expressions before longer ones, close values before distant ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from nalm.discover.evidence import fits, probe_rows
from nalm.discover.search import Search
from nalm.discover.values import Values
from nalm.second_order.verdict import unexplained
from nalm.symbolic.expression_graph import ExpressionGraph

OnFormula = Callable[[ExpressionGraph, float], None]
"""Called with each better formula and the share of the variance that it leaves unexplained."""
_MOST_VALUES = 3_000_000
"""The most values of a level: about 300 MB."""
_DEEPEST = 3
"""The most steps of expressions that are all listed; longer ones are found from both ends."""
_PRECISIONS = (1e-9, 1e-6, 1e-4, 1e-3)
"""How closely values are looked up: first as in double precision, then more and more loosely."""
_FEW_OFF = 0.1
"""The share of rows that a formula may miss, as when some were mistyped."""
_SHORTLIST = 100
"""Listed values, per level, that are compared with the target on all rows if none equals it."""
_SOME_ROWS = 500
"""Rows on which formulas are compared with each other."""


@dataclass
class Hunt:
    """The hunt for the formula of one target.

    Attributes:
        x: inputs, `n x in`, float64.
        y: targets, `n`.
        steps: the most steps.
        ops: operations of a step.
        deadline: the time, by `time.monotonic`, at which to give up.
        on_formula: see `OnFormula`.
    """

    x: Tensor
    y: Tensor
    steps: int
    ops: tuple[str, ...]
    deadline: float = float("inf")
    on_formula: OnFormula | None = None
    _near: dict[tuple[int, ...], tuple[float, ExpressionGraph]] = field(default_factory=dict, init=False)
    _least: float = field(default=float("inf"), init=False)
    _values: list[Values] = field(default_factory=list, init=False)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline

    def exact(self) -> list[ExpressionGraph]:
        """The shortest formulas that fit every row, one per function; or one that fits all rows but a few."""
        almost: list[ExpressionGraph] = []
        for precision in _PRECISIONS:
            for place in (0, 1) if precision == _PRECISIONS[0] else (0,):
                rows = self._probe(place)
                for steps in range(self.steps + 1):
                    found = list(self._functions(precision, steps, rows))
                    whole = [graph for graph, share in found if share == 1]
                    if whole:
                        return whole
                    almost += [graph for graph, share in found if share >= 1 - _FEW_OFF]
                    if self.is_late:
                        return almost[:1]
                if almost or len(self.y) <= len(rows):
                    break  # without further rows there is no second probe
            if almost:
                return almost[:1]
        return []

    def best(self) -> ExpressionGraph | None:
        """The formula that leaves the least unexplained, if none fits every row."""
        for graph in filter(self._is_allowed, self._listed()):
            self._noted(graph)
            if self.is_late:
                break
        held = sorted(self._near.values(), key=lambda pair: (pair[0], len(pair[1].steps)))
        return held[0][1] if held else None

    def _probe(self, place: int) -> np.ndarray:
        """The rows to search with; those of the second place have no row of the first."""
        x, y = self.x.numpy(), self.y.numpy()
        first = probe_rows(x, y)
        if place == 0:
            return first
        others = np.setdiff1d(np.arange(len(y)), first)
        return others[probe_rows(x[others], y[others])] if len(others) else first

    def _values_of(self, rows: np.ndarray) -> Values:
        """The values on these rows, listed once."""
        inputs = self.x.numpy()[rows]
        for known in self._values:
            if np.array_equal(known.rows, inputs):
                return known
        self._values = [*self._values[:1], Values(inputs, self.ops, _MOST_VALUES)]
        return self._values[-1]

    def _functions(
        self, precision: float, steps: int, rows: np.ndarray
    ) -> Iterator[tuple[ExpressionGraph, float]]:
        """Each function of so many steps that is close, and the share of all rows that it fits."""
        values = self._values_of(rows)
        while values.depth < min(steps, _DEEPEST) and values.deepen():
            pass
        known = set()
        target = self.y.numpy()[rows]
        if target[0] == 0:
            return
        for graph in Search(values, target, precision, self.deadline).graphs(steps):
            if not self._is_allowed(graph) or graph.fingerprint is None or graph.fingerprint in known:
                continue
            known.add(graph.fingerprint)
            self._noted(graph)
            met, _ = fits(graph, self.x, self.y)
            yield graph, float(met.double().mean())

    def _is_allowed(self, graph: ExpressionGraph) -> bool:
        """Whether it has no more steps than asked for, and no other operations: signs may take some."""
        return len(graph.steps) <= self.steps and all(step.op in self.ops for step in graph.steps)

    def _noted(self, graph: ExpressionGraph) -> None:
        """Remember a formula, with the share of the variance that it leaves unexplained."""
        key = graph.fingerprint
        if key is None or key in self._near:
            return
        some = slice(None) if len(self.y) <= _SOME_ROWS else slice(0, None, len(self.y) // _SOME_ROWS)
        outputs = graph(self.x[some])
        left = unexplained(outputs[:, None], self.y[some][:, None], self.y[:, None])
        self._near[key] = (left, graph)
        if left < self._least:
            self._least = left
            if self.on_formula is not None:
                self.on_formula(graph, left)

    def _listed(self) -> Iterator[ExpressionGraph]:
        """The listed formulas whose values are closest to the target."""
        rows = self._probe(0)
        values, target = self._values_of(rows), self.y.numpy()[rows]
        for level in values.levels:
            off = np.minimum(np.abs(level.values - target).sum(1), np.abs(level.values + target).sum(1))
            closest = np.argsort(off, kind="stable")[:_SHORTLIST]
            search = Search(values, target, 0.0)
            for index in (level.start + closest).tolist():
                yield search.graph_of(index)
