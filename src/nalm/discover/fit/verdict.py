"""What may be said of a formula: exact, approximate or none, and why.

*Exact*: it fits every row given, fitted or held back, to the precision of the data, and the rows say more
than it takes to choose the formula: there are no columns that could stand for those it reads, and no more
numbers of many digits than a law has. *None*: it does not explain half of the target's variance. Else
*approximate*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import sympy as sp
import torch
from threadpoolctl import threadpool_limits

from nalm.discover.evidence import are_roundings, dependent_columns
from nalm.discover.fit.column_facts import thin_columns
from nalm.discover.fit.constants import as_decimals, simple
from nalm.discover.fit.finish import measured, simplified
from nalm.discover.fit.formula import Formula
from nalm.discover.fit.lookalikes import lookalikes
from nalm.discover.fit.search import Search
from nalm.second_order.precision import tolerance
from nalm.second_order.verdict import BITS_TO_SPARE, bits_per_row, off_sentence

_EXPLAINED = 0.5
_ROUNDINGS = 1.5
"""Roundings of a right formula are typically below so many of the numbers that it is computed from."""
_BIAS = 0.1
"""How far the mean of roundings may be from zero, and the same for every number that is itself rounded."""
_BITS_OF_NUMBER = 50.0
"""What a fitted number of many digits takes to choose."""
_FREE_NUMBERS, _FINE = 2, 48.0
"""A formula may have so many numbers of many digits more than columns, for data of so many bits."""
_AS_GOOD_AS_FREE = 0.7
_FEW_VALUES, _FEW_ROWS = 3, 8
_MET = 0.9
"""A formula that fits this share of the rows exactly is right; the others are named."""
_INDEPENDENT = 0.8
"""A column of which others leave more than this share of the variance is given by no formula of them."""
_SHORT = 2.0
"""The seconds of a search for a formula of one column by others."""
_COARSEST = 1e-3
"""Columns that differ by more than this share are told apart by any data."""
_ROWS_AT_ONCE = 100_000
_ROWS_TO_COMPARE = 1000
_ROWS_TO_COUNT = 10_000
"""So many distinct rows are always enough."""


class Verdict(StrEnum):
    """What a formula is."""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    NONE = "none"


@dataclass(frozen=True)
class Judged:
    """The verdict on a formula.

    Attributes:
        verdict: exact, approximate or none.
        notes: sentences with the reasons.
        error: root mean squared residual on all rows.
        r2: the share of the variance that is explained, on all rows.
    """

    verdict: Verdict
    notes: tuple[str, ...]
    error: float
    r2: float


def judged(formula: Formula, x: np.ndarray, y: np.ndarray, names: Sequence[str]) -> Judged:
    """The verdict on a formula.

    Args:
        formula: the formula.
        x: all inputs that were given, `n x in`.
        y: all targets, shape `n`.
        names: the names of the columns.
    """
    off = np.concatenate([formula(x[rows]) - y[rows] for rows in _pieces(len(y))])
    finite = np.isfinite(off)
    with np.errstate(over="ignore"):
        error = float(np.sqrt(np.mean(off**2))) if finite.all() else math.inf
    spread = float(np.var(y))
    r2 = 1.0 if error == 0 else round(1 - error**2 / spread, 15) if spread > 0 else 0.0
    with np.errstate(all="ignore"):
        met, allowed = _met(formula, x, y, off)
    if met.all():
        doubts = _doubts(formula, x, y, allowed, names)
        return Judged(Verdict.APPROXIMATE if doubts else Verdict.EXACT, tuple(doubts), error, r2)
    if met.mean() >= _MET:
        return Judged(Verdict.APPROXIMATE, (off_sentence(torch.from_numpy(met)),), error, r2)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        return Judged(Verdict.NONE, (f"The best formula has no value in row {row}.",), math.inf, -math.inf)
    if r2 < _EXPLAINED or not formula.used:
        return Judged(Verdict.NONE, (_nothing_found(len(y)),), error, r2)
    return Judged(Verdict.APPROXIMATE, (_tested(off, y),), error, r2)


def _nothing_found(rows: int) -> str:
    if rows < _FEW_ROWS:
        return f"{rows} rows are too few: every formula takes more to write than it explains."
    return "No formula explains half of the variance of the target."


def _tested(off: np.ndarray, y: np.ndarray) -> str:
    share = 100 * float(np.sqrt(np.mean(off**2))) / max(float(np.std(y)), 1e-300)
    worst = int(np.argmax(np.abs(off)))
    return (
        f"Its error is {share:.2g} % of the target's standard deviation on the {len(y):,} rows given; "
        f"it is largest in row {worst} ({off[worst]:.3g}). Outside the range of the rows it was not tested."
    )


def _pieces(rows: int) -> list[slice]:
    return [slice(k, k + _ROWS_AT_ONCE) for k in range(0, rows, _ROWS_AT_ONCE)]


def _met(formula: Formula, x: np.ndarray, y: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are fitted to the precision of the data, and how far off they may be."""
    met, most, shares = [], [], []
    inputs, targets = torch.from_numpy(x), torch.from_numpy(y)[:, None]
    for rows in _pieces(len(y)):
        slopes = torch.from_numpy(formula.slopes(x[rows]))[:, None]
        some = inputs[rows], targets[rows], slopes
        allowed, typical = (tolerance(*some, *how)[:, 0].numpy() for how in ((), (_ROUNDINGS,)))
        met.append(np.abs(off[rows]) <= allowed)
        most.append(allowed)
        shares.append(off[rows] / np.maximum(typical, np.finfo(float).tiny))
    held, share = np.concatenate(met), np.concatenate(shares)
    bias = _BIAS * (1 + sum(not n.is_Integer for n in _numbers(formula.expression)))
    if held.any() and not are_roundings(torch.from_numpy(share[held]), bias):
        held[:] = False
    return held, np.concatenate(most)


def _doubts(
    formula: Formula, x: np.ndarray, y: np.ndarray, allowed: np.ndarray, names: Sequence[str]
) -> list[str]:
    """Sentences on why rows that a formula fits do not determine it; none if they do."""
    used = list(formula.used)
    some = np.linspace(0, len(y) - 1, min(len(y), _ROWS_TO_COUNT)).astype(int)
    rows = len(np.unique(np.column_stack([x[some][:, used] if used else x[some], y[some]]), axis=0))
    numbers = _numbers(formula.expression)
    fine = -math.log2(max(float(np.median(allowed / np.maximum(np.abs(y), 1e-300))), 2.0**-_FINE))
    # A number of four digits is as good as free where the data have four digits.
    long = [n for n in numbers if _bits(n) >= min(_BITS_OF_NUMBER, _AS_GOOD_AS_FREE * fine)]
    if _may_approximate(len(long), x[:, used], fine):
        many = f"{len(long)} numbers" if len(long) > 1 else "a number"
        return [f"It has {many} of many digits: it may be an approximation of something else."]
    needed = _bits_of(formula, x.shape[1]) + BITS_TO_SPARE
    told = bits_per_row(torch.from_numpy(x), torch.from_numpy(y)[:, None], torch.from_numpy(allowed)[:, None])
    if rows * told < needed or rows < 2 * len(long) + 2:
        return [f"{rows} distinct rows contain too little information to choose among all such formulas."]
    found = [
        f"Column {names[k]} has only {count} different values: its powers cannot be told apart."
        for k in used
        if (count := len(np.unique(x[:, k]))) <= _FEW_VALUES
    ]
    found += [thin.sentence(names[thin.column]) for thin in thin_columns(formula, x, fine)]
    if _is_absolute(formula.expression):
        found.append("It takes the root of a square, an absolute value: it may stand for something else.")
    return [
        *found,
        *_hidden(numbers, x, names),
        *_ties(used, x, y, allowed, names),
        *_look_alike(formula, x, y),
    ]


def _look_alike(formula: Formula, x: np.ndarray, y: np.ndarray) -> list[str]:
    """A sentence on another formula that fits the rows as well, because a term is small."""
    some = np.linspace(0, len(y) - 1, min(len(y), _ROWS_TO_COMPARE)).astype(int)
    inputs, targets = x[some], y[some]
    # Fits that differ by less than this are told apart by chance alone.
    close = 2 ** (BITS_TO_SPARE / len(some)) * measured(formula, inputs, targets).error
    for other in lookalikes(formula, inputs):
        fitted = measured(other.fitted(inputs, targets)[0], inputs, targets)
        if fitted.error <= close or _met(fitted.formula, x, y, fitted.formula(x) - y)[0].all():
            told = as_decimals(simplified(fitted, inputs, targets).formula.expression)
            return [f"{sp.N(told, 4)} fits the rows as well: they cannot tell which of the two is the law."]
    return []


def _may_approximate(long: int, x: np.ndarray, bits: float) -> bool:
    """Whether so many free numbers could fit any smooth target to the precision of the data.

    A law has no more free numbers than columns, and few more; coarse data allow fewer. On a narrow range,
    every number of a series gains the bits by which the range is smaller than its middle.
    """
    if long > round((x.shape[1] + _FREE_NUMBERS) * bits / _FINE):
        return True
    width = max((np.ptp(column) / (2 * np.abs(column).max()) for column in x.T), default=1.0)
    return long * (1 + math.log2(1 / max(width, 1e-12))) > bits / 2


def _is_absolute(expression: sp.Expr) -> bool:
    """Whether it has the root of the square of a sum, which may change its sign."""
    pi = sp.Dummy("pi", positive=True)
    for power in expression.atoms(sp.Pow):
        if power.exp.is_integer is False and power.base.free_symbols and power.base.has(sp.Add):
            above, _ = sp.fraction(sp.together(sp.nsimplify(power.base.xreplace({sp.pi: pi}), rational=True)))
            _, factors = sp.factor_list(above)
            if factors and all(times % 2 == 0 for _, times in factors):
                return True
    return expression.has(sp.Abs)


def _ties(
    used: Sequence[int], x: np.ndarray, y: np.ndarray, allowed: np.ndarray, names: Sequence[str]
) -> list[str]:
    """Sentences on columns that could stand for those that the formula reads."""
    precision = max(1e-9, 16 * float(np.median(allowed / np.maximum(np.abs(y), 1e-300))))
    precision = min(precision, _COARSEST)
    some = np.linspace(0, len(x) - 1, min(len(x), 1000)).astype(int)
    found = dependent_columns(x[some], names, precision, used)
    return found or [
        f"Column {names[k]} is given by the others, as {given}: the rows cannot tell them apart."
        for k in used
        if (given := _given_by_others(k, x[some], names)) is not None
    ]


def _given_by_others(column: int, x: np.ndarray, names: Sequence[str]) -> sp.Expr | None:
    """The formula of the other columns that gives a column, if a short search finds one."""
    others = [k for k in range(x.shape[1]) if k != column]
    if not others or len(x) < _FEW_ROWS or not _depends(x[:, column], x[:, others]):
        return None
    symbols = tuple(sp.Symbol(names[k], real=True) for k in others)
    search = Search(x[:, others], x[:, column], symbols, np.random.default_rng(0), _SHORT)
    with threadpool_limits(1):
        best = search.result().best if search.cheap() and not search.is_intricate else None
    return None if best is None else best.formula.expression


def _depends(column: np.ndarray, others: np.ndarray) -> bool:
    """Whether others and their squares explain part of a column: else no short formula of them gives it."""
    scaled = (others - others.mean(0)) / np.maximum(others.std(0), 1e-300)
    design = np.column_stack([np.ones(len(column)), scaled, scaled**2])
    freedom = len(column) - design.shape[1]
    if freedom < 1:
        return True
    left = column - design @ np.linalg.lstsq(design, column, rcond=None)[0]
    unexplained = (left**2).sum() / freedom / max(float(np.var(column, ddof=1)), 1e-300)
    return bool(unexplained < _INDEPENDENT)


def _hidden(numbers: Sequence[sp.Expr], x: np.ndarray, names: Sequence[str]) -> list[str]:
    """Sentences on constant columns that may stand behind a number of the formula, or may be left out."""
    found = []
    for k, name in enumerate(names):
        value = float(x[0, k])
        if np.ptp(x[:, k]) > 0:
            continue
        behind = value in (-1.0, 0.0, 1.0) or any(_could_be(number, value) for number in numbers)
        if behind:
            found.append(f"Column {name} is always {value:g}: whether the formula reads it cannot be seen.")
    return found


def _could_be(number: sp.Expr, value: float) -> bool:
    """Whether a number is a power of a value, but for a factor that is simpler than the number."""
    for power in (1.0, -1.0, 2.0, -2.0, 0.5, -0.5):
        ratio = float(number) / abs(value) ** power
        found = simple(ratio, 1e-9 * abs(ratio))
        if found is not None and found.bits < min(_bits(number), 12.0):
            return True
    return False


def _numbers(expression: sp.Expr) -> list[sp.Expr]:
    """The numbers of an expression, without 1, -1 and exponents."""
    if expression.is_number:
        return [] if abs(expression) == 1 else [expression]
    if expression.is_Pow:
        return _numbers(expression.base)
    factors = [a for a in expression.args if a.is_number] if expression.is_Mul else []
    number = sp.Mul(*factors)
    rest = [a for a in expression.args if a not in factors]
    return ([] if abs(number) == 1 else [number]) + [n for a in rest for n in _numbers(a)]


def _bits(number: sp.Expr) -> float:
    """The bits that it takes to write a number."""
    found = simple(float(number), 0.0)
    return _BITS_OF_NUMBER if found is None else min(found.bits, _BITS_OF_NUMBER)


def _bits_of(formula: Formula, columns: int) -> float:
    """The bits that it takes to choose a formula among those of the same length."""
    return formula.length * math.log2(6 + columns) + sum(_bits(n) for n in _numbers(formula.expression))
