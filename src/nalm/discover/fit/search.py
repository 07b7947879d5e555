"""The search for a formula: from cheap and certain to costly, until nothing is left to explain.

Products of powers by least squares in logarithms; polynomial relations by linear algebra; sums and products
of sums by variable projection; sums of monomials term by term. Every candidate is fitted anew, freed of idle
terms and measured on all rows, those held back included.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from nalm.discover.fit.finish import Fitted, measured, refined, simplified
from nalm.discover.fit.implicit import NOTHING, relations
from nalm.discover.fit.monomial import monomials
from nalm.discover.fit.neighbours import neighbours
from nalm.discover.fit.pool import Pool, deviation_of
from nalm.discover.fit.powers import LARGE, SMALL, Shape, power_formulas
from nalm.discover.fit.relevance import is_noise, relevance
from nalm.discover.fit.rows import Rows
from nalm.discover.fit.sparse import LINEAR, OTHERS, sparse_relations
from nalm.discover.fit.stepwise import stepwise_formulas

_EXACT = 1e-13
"""Relative residuals below this are roundings: the search ends."""
_INTRICATE = 80.0
"""Formulas that take more bits than this to write are intricate."""
_NO_ROW_OFF = 1e-9
"""The same for all rows together: a single row that is off does more."""
_PER_STAGE = 40
"""How many candidates of a stage are looked at."""
_ROUNDS = 3
_ROUGH = 0.9
"""A formula that leaves more than this share of the deviation is not examined for what it leaves."""
_MATTERS = 0.02
"""Columns along which the target rises by less than this share of the steepest are left out at first."""
_MOST_COLUMNS = 9
_FEW, _MANY = (2, 80), (80, 300)
"""Numbers of unknown coefficients of relations: those that are quick, and all others."""
_NUMBERS = 4
"""A formula that fits exactly by so many numbers more than two per column is an approximation."""
_CHEAP, _QUICK = 4, 5
"""The numbers of groups that take a moment, and a few seconds."""
_ENOUGH = 25
"""With fewer rows it cannot be told that a target depends on nothing."""

Stages = Iterator[tuple[str, Iterable[sp.Expr]]]
"""What is tried, and the formulas that it gives."""


@dataclass(frozen=True)
class Progress:
    """How far a search has come.

    Attributes:
        seconds: the time since its start.
        stage: what is being tried.
        expression: the best formula so far, or None.
        error: its root mean squared residual, as a share of the target's deviation.
    """

    seconds: float
    stage: str
    expression: sp.Expr | None
    error: float


@dataclass(frozen=True)
class _Problem:
    """A table to find a formula for.

    Attributes:
        all_x: all inputs, `n x in`.
        all_y: all targets, shape `n`.
        x: inputs of the rows to fit to.
        y: their targets.
        order: the columns, the most relevant first.
        chosen: the columns that seem to matter.
        factor: what the formula of these targets is multiplied with.
    """

    all_x: np.ndarray
    all_y: np.ndarray
    x: np.ndarray
    y: np.ndarray
    order: list[int]
    chosen: list[int]
    factor: sp.Expr = sp.Integer(1)

    def without(self, powers: dict[int, float], symbols: tuple[sp.Symbol, ...]) -> _Problem | None:
        """The targets divided by powers of some columns; None if there are none, or no others."""
        rest = [k for k in self.chosen if k not in powers]
        if not powers or not rest:
            return None

        def divided(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return y / np.prod([x[:, k] ** e for k, e in powers.items()], axis=0)

        factor = sp.Mul(*(symbols[k] ** sp.Rational(round(2 * e), 2) for k, e in powers.items()))
        order = [k for k in self.order if k not in powers]
        targets = divided(self.all_x, self.all_y), divided(self.x, self.y)
        return _Problem(self.all_x, targets[0], self.x, targets[1], order, rest, factor)

    def names(self, symbols: tuple[sp.Symbol, ...]) -> list[sp.Symbol]:
        """The symbols of the columns that seem to matter."""
        return [symbols[k] for k in self.chosen]

    def restored(self, found: Iterable[sp.Expr]) -> Iterator[sp.Expr]:
        """Formulas of these targets as formulas of the first ones."""
        return (self.factor * expression for expression in found)


class Search:
    """The search for the formula of one target.

    Args:
        x: inputs, `n x in`.
        y: targets, shape `n`.
        symbols: the names of the inputs.
        generator: draws the rows that are held back, and all starts.
        max_seconds: the time after which the search ends with what it has.
        precision: the relative precision of the targets.
        on_progress: is told about every stage and every better formula.

    Attributes:
        pool: the formulas so far.
        cut_off: whether time was over before everything was tried.
    """

    def __init__(
        self,
        x: np.ndarray,
        y: np.ndarray,
        symbols: tuple[sp.Symbol, ...],
        generator: np.random.Generator,
        max_seconds: float,
        precision: float = 1e-16,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.rows = Rows.of(x, y, generator)
        self.symbols, self.generator = symbols, generator
        self.began, self.max_seconds = time.monotonic(), max_seconds
        self.precision = precision
        self.on_progress = on_progress
        y_size = float(np.median(np.abs(self.rows.all_y)))
        self.cut_off = False
        self.pool = Pool(len(self.rows.all_y), deviation_of(self.rows.all_y), y_size)
        self._groups = self._made()

    def late(self) -> bool:
        """Whether time is over."""
        return time.monotonic() - self.began > self.max_seconds

    def quick(self) -> bool:
        """Try what is quick; whether nothing is left to explain."""
        return self._through(itertools.islice(self._groups, _QUICK))

    def cheap(self) -> bool:
        """Try only what takes no more than a moment; whether nothing but roundings is left."""
        self._through(itertools.islice(self._groups, _CHEAP), may_settle=False)
        return self.is_exact

    def rest(self) -> bool:
        """Try the rest, until nothing is left to explain or to try, or time is over."""
        return self._through(self._groups)

    def _through(self, groups: Iterable[Stages], *, may_settle: bool = True) -> bool:
        for stages in groups:
            before = self.pool.best
            for stage, found in stages:
                self._tell(stage)
                for expression in itertools.islice(found, _PER_STAGE):
                    if self._consider(expression, stage) and self.is_exact:
                        return True
                    if self._must_end():
                        return True
            # Noise can hide behind several formulas: the best of a whole group counts.
            if may_settle and self.pool.best is not before and self._leaves_noise():
                self._try_neighbours()
                return True
            if self._must_end():
                return True
        return False

    def _must_end(self) -> bool:
        self.cut_off = self.late()
        return self.cut_off

    def _try_neighbours(self) -> None:
        """Formulas with simpler powers than those of the best, which noise may have bent."""
        for _ in range(_ROUNDS):
            before = self.pool.best
            for fitted in sorted(self.pool.found, key=self.pool.bits)[:_ROUNDS]:
                for expression in neighbours(fitted.formula.expression):
                    if self.late():
                        return
                    self._consider(expression, "simpler powers")
            if self.pool.best is before:
                return

    def result(self) -> Pool:
        """The best formulas of each length, simplified if there is time, the best one in any case."""
        best = self.pool.best
        front = [f for f in self.pool.front() if f is not best]
        polished = replace(self.pool, found=[], best=None)
        for fitted in [best, *front] if best is not None else front:
            polished.add(fitted if self.late() and fitted is not best else self._polished(fitted))
        return polished

    def _made(self) -> Iterator[Stages]:
        """What is tried, in groups of similar cost."""
        x, y = self.rows.x, self.rows.y
        mean = float(np.mean(y))
        mean = mean if abs(mean) > 1e-15 * float(np.abs(y).max()) else 0.0
        yield iter([("a constant", [sp.Float(mean, 15)])])
        yield (("products of powers", monomials(x, y, self.symbols, noisy=noisy)) for noisy in (False, True))
        varying = [k for k in range(x.shape[1]) if np.ptp(x[:, k]) > 0]
        if len(y) < 4 or not varying:
            return
        names = [self.symbols[k] for k in varying]
        yield iter([("a linear formula", sparse_relations(x[:, varying], y, names, LINEAR))])
        told = relevance(x[:, varying], y)
        whole = _Problem(
            self.rows.all_x, self.rows.all_y, x, y,
            [varying[k] for k in told.order],
            [varying[k] for k in told.columns(_MATTERS)][:_MOST_COLUMNS] or [varying[told.order[0]]],
        )  # fmt: skip
        powers = {varying[k]: e for k, e in enumerate(told.exponents) if np.isfinite(e)}
        reduced = whole.without(powers, self.symbols)
        problems = [whole] if reduced is None else [whole, reduced]
        yield (stage for problem in problems for stage in self._relations(problem, _FEW))
        if len(y) >= _ENOUGH and is_noise(x[:, varying], y):
            yield self._sums(whole)
            return  # nothing depends on the inputs, at least not smoothly
        yield (stage for shape in SMALL for stage in self._shape(shape, whole))
        if reduced is not None:
            yield self._relations(reduced, _MANY)
            yield (stage for shape in SMALL + LARGE for stage in self._shape(shape, reduced))
        yield self._sums(whole)
        yield self._relations(whole, _MANY)
        yield (stage for shape in LARGE for stage in self._shape(shape, whole))

    def _relations(self, problem: _Problem, terms: tuple[int, int]) -> Stages:
        nothing = max(NOTHING, 4 * self.precision)
        order = problem.order[: len(problem.chosen) + 2]
        found = relations(problem.all_x, problem.all_y, self.symbols, order, terms, nothing, self.late)
        yield "polynomial relations", problem.restored(found)

    def _sums(self, problem: _Problem) -> Stages:
        x, y, names = problem.x[:, problem.chosen], problem.y, problem.names(self.symbols)
        yield "relations of few terms", sparse_relations(x, y, names, OTHERS, self.late)
        for power in (1, 2, -1, -2):
            yield "sums of monomials", stepwise_formulas(x, y, names, power)

    def _shape(self, shape: Shape, problem: _Problem) -> Stages:
        x, y = problem.x[:, problem.chosen], problem.y
        names = problem.names(self.symbols)
        if x.shape[1] * (len(shape.terms) + sum(shape.sums)) > len(y) / 2:
            return
        words = f"{len(shape.terms) or 'products of'} {'terms' if shape.terms else 'sums'} of powers"
        for noisy in (False, True) if not shape.terms else (False,):
            found = power_formulas(shape, x, y, names, self.generator, noisy=noisy, late=self.late)
            yield words, problem.restored(found)

    def _consider(self, expression: sp.Expr, stage: str) -> bool:
        """Fit a candidate; whether it is the best so far."""
        if expression.has(sp.zoo, sp.nan, sp.oo):
            return False
        fitted = refined(expression, self.symbols, self.rows.x, self.rows.y)
        if not np.isfinite(fitted.error):
            return False
        fitted = measured(fitted.formula, self.rows.all_x, self.rows.all_y)
        if not self.pool.add(fitted):
            return False
        self._tell(stage)
        return True

    @property
    def is_exact(self) -> bool:
        """Whether the best formula leaves only roundings."""
        best = self.pool.best
        if best is None or best.relative > max(_EXACT, 2 * self.precision):
            return False
        if best.error > max(_NO_ROW_OFF, 10 * self.precision) * self.pool.size:
            return False
        return len(best.formula.constants) <= _NUMBERS + 2 * len(best.formula.used)

    @property
    def is_intricate(self) -> bool:
        """Whether the best formula is so long that it may owe its fit to single rows."""
        return self.pool.best is not None and self.pool.written(self.pool.best) > _INTRICATE

    def _leaves_noise(self) -> bool:
        """Whether the best formula leaves only noise."""
        best = self.pool.best
        if best is None or best.error > _ROUGH * self.pool.deviation:
            return False
        return is_noise(self.rows.all_x, best.formula(self.rows.all_x) - self.rows.all_y)

    def _polished(self, fitted: Fitted) -> Fitted:
        x, y = self.rows.all_x, self.rows.all_y
        again, _ = fitted.formula.fitted(x, y)
        return simplified(measured(again, x, y), x, y)

    def _tell(self, stage: str) -> None:
        if self.on_progress is None:
            return
        best = self.pool.best
        error = np.inf if best is None else best.error / self.pool.deviation
        expression = None if best is None else best.formula.expression
        self.on_progress(Progress(time.monotonic() - self.began, stage, expression, error))
