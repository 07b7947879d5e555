"""The formula of one target: search, refit on all rows, verdict and notes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
import torch
from threadpoolctl import threadpool_limits

from nalm.discover.fit.constants import as_decimals
from nalm.discover.fit.finish import Fitted
from nalm.discover.fit.formula import Formula
from nalm.discover.fit.outside import outside_notes
from nalm.discover.fit.pool import Pool
from nalm.discover.fit.search import Progress, Search
from nalm.discover.fit.verdict import Judged, Verdict, judged
from nalm.second_order.precision import tolerance
from nalm.threads import one_thread

_STANDS_OUT = 10.0
"""Rows whose residual is so many times that of nearly all others are left out of a second search."""
_NEARLY_ALL = 0.9
_ROWS_TO_COMPARE = 1000
_SAMPLE, _SAMPLES = 40, 3
"""Rows of a sample, and the number of samples, in which there may be no wild row."""
_CUT_OFF = "Time was over before everything was tried: with more seconds, a better formula may be found."
_AGREES = 1e-9
"""A row agrees with a formula if it is off by less than this share."""


@dataclass(frozen=True)
class Alternative:
    """A formula of the list of error against length.

    Attributes:
        expression: in the names of the columns.
        error: root mean squared residual, as a share of the target's deviation.
        length: the number of operations, numbers and names.
    """

    expression: sp.Expr
    error: float
    length: int


@dataclass(frozen=True)
class Found:
    """What was found for one target.

    Attributes:
        formula: the formula; its symbols have the names of the columns.
        judged: the verdict on it.
        notes: the reasons for the verdict, and how the formula behaves outside the rows.
        alternatives: formulas that no other beats in both error and length, short ones first.
        seconds: the time it took.
    """

    formula: Formula
    judged: Judged
    notes: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    seconds: float


def find_formula(
    x: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    seed: int,
    max_seconds: float,
    on_progress: Callable[[Progress], None] | None = None,
) -> Found:
    """Search the formula of a target.

    Args:
        x: inputs, `n x in`, all finite.
        y: targets, shape `n`, all finite.
        names: the names of the columns.
        seed: of the rows held back and of all starts.
        max_seconds: the time after which the search ends with what it has.
        on_progress: is told about every stage and every better formula.
    """
    began = time.monotonic()
    symbols = tuple(_symbol(name, x[:, k]) for k, name in enumerate(names))
    # Two threads are slower than one on matrices of this size.
    with one_thread(), threadpool_limits(1), np.errstate(all="ignore"):
        search = _searched(_without_copies(x), y, symbols, seed, max_seconds, on_progress)
        pool = search.result()
        best = _best(pool, x, y)
        said = judged(best, x, y, names)
    cut_off = [_CUT_OFF] if search.cut_off and said.verdict is not Verdict.EXACT else []
    notes = [*said.notes, *cut_off, *outside_notes(best, x.min(0), x.max(0), names)]
    real = {symbol: sp.Symbol(symbol.name, real=True) for symbol in symbols}
    listed = tuple(_alternative(fitted, pool, real) for fitted in pool.front())
    named = Formula(as_decimals(best.expression).xreplace(real), tuple(real[s] for s in symbols))
    return Found(named, said, tuple(notes), listed, time.monotonic() - began)


def _without_copies(x: np.ndarray) -> np.ndarray:
    """The inputs with columns that equal an earlier one made constant, so that formulas do not mix them."""
    _, first = np.unique(x[:_ROWS_TO_COMPARE], axis=1, return_index=True)
    copies = [k for k in range(x.shape[1]) if k not in first]
    if not copies:
        return x
    made = x.copy()
    made[:, [k for k in copies if any(np.array_equal(x[:, k], x[:, j]) for j in first)]] = 1.0
    return made


def _symbol(name: str, column: np.ndarray) -> sp.Symbol:
    """A symbol that is known to be positive where the column is: roots of squares are then written short."""
    return sp.Symbol(name, positive=True) if (column > 0).all() else sp.Symbol(name, real=True)


def _searched(
    x: np.ndarray,
    y: np.ndarray,
    symbols: tuple[sp.Symbol, ...],
    seed: int,
    max_seconds: float,
    on_progress: Callable[[Progress], None] | None,
) -> Search:
    """Search quickly, then without rows that stand out, then thoroughly."""
    precision, ends = _precision(x, y), time.monotonic() + max_seconds

    def search(rows: Any) -> Search:
        left, generator = ends - time.monotonic(), np.random.default_rng(seed)
        return Search(x[rows], y[rows], symbols, generator, left, precision, on_progress)

    whole = search(slice(None))
    settled = whole.quick()
    if time.monotonic() > ends or (whole.is_exact and not whole.is_intricate):
        return whole
    for good in _without_wild_rows(whole, x, y, search):
        usual = search(good)
        usual.quick()
        if usual.is_exact and _is_right(usual, x, y):
            return usual
    if not settled and not whole.is_exact:
        whole.rest()
    return whole


def _without_wild_rows(
    whole: Search, x: np.ndarray, y: np.ndarray, search: Callable[[Any], Search]
) -> Iterator[np.ndarray]:
    """Rows without those that stand out: from a formula of few rows that most rows agree with, or of all."""
    if len(y) < 2 * _SAMPLE:
        return
    generator = np.random.default_rng(0)
    for _ in range(_SAMPLES):
        few = search(generator.permutation(len(y))[:_SAMPLE])
        if few.cheap() and _is_right(few, x, y):
            assert few.pool.best is not None
            yield np.abs(few.pool.best.formula(x) - y) <= _AGREES * np.abs(y)
            return
    good = _usual_rows(whole.pool.best, x, y)
    if good is not None:
        yield good


def _is_right(search: Search, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether nearly all rows agree with what was found on some."""
    best = search.pool.best
    return (
        best is not None and float(np.mean(np.abs(best.formula(x) - y) <= _AGREES * np.abs(y))) >= _NEARLY_ALL
    )


def _precision(x: np.ndarray, y: np.ndarray) -> float:
    """The relative precision of the target, from how its numbers are written."""
    some = np.linspace(0, len(y) - 1, min(len(y), 1000)).astype(int)
    none = torch.zeros(len(some), 1, x.shape[1], dtype=torch.float64)
    allowed = tolerance(torch.from_numpy(x[some]), torch.from_numpy(y[some])[:, None], none, 1.0)
    return float(np.median(allowed[:, 0].numpy()) / max(float(np.median(np.abs(y[some]))), 1e-300))


def _usual_rows(best: Fitted | None, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """The rows without those that stand out, if some do."""
    if best is None:
        return None
    off = np.abs(best.formula(x) - y)
    off = np.where(np.isfinite(off), off, np.inf)
    bound = _STANDS_OUT * float(np.quantile(off, _NEARLY_ALL))
    far = np.abs(y - np.median(y))
    wild = far > _STANDS_OUT * max(float(np.quantile(far, _NEARLY_ALL)), 1e-300)
    good = (off <= bound) & ~wild
    return None if good.all() or bound <= 1e-12 * float(np.abs(y).max()) else good


def _best(pool: Pool, x: np.ndarray, y: np.ndarray) -> Formula:
    """The best formula that has a value in every row."""
    for fitted in sorted(pool.found, key=pool.bits):
        if np.isfinite(fitted.formula(x)).mean() > _NEARLY_ALL:
            return fitted.formula
    return Formula(sp.Float(float(np.mean(y)), 15), pool.found[0].formula.symbols)


def _alternative(fitted: Fitted, pool: Pool, real: dict[sp.Symbol, sp.Symbol]) -> Alternative:
    formula = fitted.formula
    return Alternative(
        as_decimals(formula.expression).xreplace(real), fitted.error / pool.deviation, formula.length
    )
