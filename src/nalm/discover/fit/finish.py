"""From a formula with fitted numbers to the printed one: no idle terms, simple numbers, a short form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from nalm.discover.fit.constants import simple
from nalm.discover.fit.formula import Formula, length
from nalm.discover.fit.scales import without_idle_scales
from nalm.discover.fit.squares import with_squares, without_idle_signs

_IDLE = 3.0
"""A constant that is at most so many standard deviations from zero is made zero."""
_CLEAN, _IDLE_IF_CLEAN = 1e-11, 1000.0
"""Below this relative residual only roundings are left, whose deviations say little: more is tried."""
_WORSE = 9.0
"""A change is accepted if squared residuals grow by at most so many times their mean."""
_ROUNDING = 4e-15
"""Relative residuals of this size are roundings, whichever of two formulas has the larger ones."""
_MOST_TO_SHORTEN = 80
_SAME_ERROR = 1e-4
"""Rounding may make an error larger by this share."""


@dataclass(frozen=True)
class Fitted:
    """A formula and how well it fits.

    Attributes:
        formula: the formula.
        error: root mean squared residual.
        relative: the median of the residuals' share of the target.
    """

    formula: Formula
    error: float
    relative: float


def measured(formula: Formula, x: np.ndarray, y: np.ndarray) -> Fitted:
    """How well a formula fits; infinite errors where it has no value in some row."""
    off = np.abs(formula(x) - y)
    if not np.isfinite(off).all():
        return Fitted(formula, np.inf, np.inf)
    sizes = np.maximum(np.abs(y), 1e-300)
    with np.errstate(over="ignore"):
        return Fitted(formula, float(np.sqrt(np.mean(off**2))), float(np.median(off / sizes)))


def refined(expression: sp.Expr, symbols: tuple[sp.Symbol, ...], x: np.ndarray, y: np.ndarray) -> Fitted:
    """The formula with its constants fitted, and without terms that do nothing."""
    formula, deviations = Formula(without_idle_scales(expression), symbols).fitted(x, y)
    best = measured(formula, x, y)
    while formula.constants and np.isfinite(best.error):
        # How many standard deviations each constant is away from zero.
        strength = np.abs(formula.constants) / np.maximum(deviations, 1e-300)
        weakest = int(np.argmin(strength))
        if not strength[weakest] <= (_IDLE if best.relative > _CLEAN else _IDLE_IF_CLEAN):
            break
        values = list(formula.constants)
        values[weakest] = sp.Integer(0)
        shorter = formula.with_constants(values)
        if shorter.expression.has(sp.zoo, sp.nan) or not shorter.used:
            break
        tried, new_deviations = shorter.fitted(x, y)
        fitted = measured(tried, x, y)
        if not _no_worse(fitted, best, len(y)):
            break
        formula, deviations, best = tried, new_deviations, fitted
    return best


def simplified(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> Fitted:
    """The formula with simple numbers wherever the rows support them, in a short form."""
    best = fitted
    for _ in range(1 + len(fitted.formula.constants)):
        formula, deviations = best.formula.fitted(x, y, steps=4)
        if not formula.constants:
            break
        found = [simple(v, d) for v, d in zip(formula.constants, deviations)]
        if not any(found):
            break
        values = [s.number if s is not None else v for s, v in zip(found, formula.constants)]
        tried = _with(formula, values, x, y)
        if tried is not None and _no_worse(tried, best, len(y)):
            best = tried
            break
        # One of them is not what it seems: take the simplest alone, and look again.
        tried = _one_by_one(formula, found, best, x, y)
        if tried is None:
            break
        best = tried
    return _rounded(shortened(best, x, y), x, y)


def _rounded(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> Fitted:
    """The formula with no more digits than its noise leaves to its numbers, and two more."""
    formula, deviations = fitted.formula.fitted(x, y, steps=1)
    if not formula.constants or fitted.relative < _CLEAN:
        return fitted
    digits = [
        int(np.clip(np.ceil(np.log10(abs(c) / d)) + 2, 3, 15)) if 0 < d < np.inf and c else 15
        for c, d in zip(formula.constants, deviations)
    ]
    shown = [float(f"{c:.{n - 1}e}") for c, n in zip(formula.constants, digits)]
    rounded = formula.with_constants([sp.Integer(int(c)) if c == int(c) else c for c in shown])
    new = measured(rounded, x, y)
    return new if new.error <= (1 + _SAME_ERROR) * fitted.error else fitted


def _one_by_one(formula: Formula, found: list, best: Fitted, x: np.ndarray, y: np.ndarray) -> Fitted | None:
    order = sorted((s.bits, k) for k, s in enumerate(found) if s is not None)
    for _, k in order:
        values: list = list(formula.constants)
        values[k] = found[k].number
        tried = _with(formula, values, x, y)
        if tried is not None and _no_worse(tried, best, len(y)):
            return tried
    return None


def _with(formula: Formula, values: list, x: np.ndarray, y: np.ndarray) -> Fitted | None:
    changed = formula.with_constants(values)
    if changed.expression.has(sp.zoo, sp.nan):
        return None
    return measured(changed.fitted(x, y)[0], x, y)


def _no_worse(new: Fitted, old: Fitted, rows: int) -> bool:
    """Whether residuals have not grown by more than chance or rounding."""
    if new.relative <= max(_ROUNDING, 2 * old.relative) and old.relative < _CLEAN:
        return True
    return new.error**2 <= old.error**2 * (1 + _WORSE / rows)


def shortened(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> Fitted:
    """The shortest of a few ways to write the formula that give the same values."""
    expression = fitted.formula.expression
    if length(expression) > _MOST_TO_SHORTEN:
        return fitted
    best = fitted
    for way in (with_squares, sp.factor_terms, _factored, lambda e: with_squares(_factored(e)), _cancelled):
        written = _written(way, expression)
        if written is None:
            continue
        tried = Formula(without_idle_signs(written, fitted.formula.symbols, x), fitted.formula.symbols)
        if tried.length >= best.formula.length:
            continue
        new = measured(tried, x, y)
        if new.error <= 2 * best.error + 1e-14 * float(np.abs(y).max()):
            best = new
    return best


def _written(way: Callable[[sp.Expr], sp.Expr], expression: sp.Expr) -> sp.Expr | None:
    """The expression written in some way; None if sympy cannot."""
    try:
        return way(expression)
    except (
        sp.PolynomialError,
        ValueError,
        TypeError,
        AttributeError,
        NotImplementedError,
        ZeroDivisionError,
    ):
        return None


def _cancelled(expression: sp.Expr) -> sp.Expr:
    """With common factors of numerator and denominator cancelled, roots of columns included."""
    if expression.has(sp.Float) or not any(p.exp == sp.Rational(1, 2) for p in expression.atoms(sp.Pow)):
        return expression
    roots = {s: sp.Dummy(s.name, positive=True) for s in expression.free_symbols if s.is_positive}
    made = sp.cancel(sp.powdenest(expression.xreplace({s: r**2 for s, r in roots.items()}), force=True))
    return made.xreplace({r: sp.sqrt(s) for s, r in roots.items()})


def _factored(expression: sp.Expr) -> sp.Expr:
    """Factored over the fractions; pi counts as a name, and what is below a root is factored by itself."""
    pi = sp.Dummy("pi", positive=True)

    def visit(node: sp.Expr) -> sp.Expr:
        if not node.args:
            return node
        node = node.func(*(visit(argument) for argument in node.args))
        return sp.factor(node) if isinstance(node, (sp.Add, sp.Mul)) and not node.has(sp.Float) else node

    return visit(expression.xreplace({sp.pi: pi})).xreplace({pi: sp.pi})
