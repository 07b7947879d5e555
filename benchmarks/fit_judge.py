"""Whether a found expression is the formula behind a table.

Both are compared at points in the table's range and far outside, columns that do not matter included. A
distance between them is measured in what the formula's value would change if each of its coefficients (one
before every term of every sum, one before the whole) changed by all of itself: an error of 1e-6 in these
units is what coefficients right to 1e-6 leave, also where terms cancel.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from scipy.optimize import least_squares

import fit_tables
from fit_tables import Columns, Formula

EXACT, DIGITS, LOOSE = 1e-6, 5e-3, 0.1
"""Errors of coefficients: none, none in three digits, and what strong noise can leave."""
SAME_FORM = 1e-5
"""What a formula with other coefficients may leave of another; single precision comes no closer."""
UNSEEN = 5e-4
"""Share of a sum below which a term does not show in its third digit."""
PRECISION = 50
"""Digits of the comparison."""
UNUSED = ((1.0, 5.0), (1.0, 33.0))
"""Ranges of columns that do not matter, in the table and far outside."""


def judge(law: Formula, found: str, names: Sequence[str], points: int = 200) -> dict[str, Any]:
    """What is right about a found expression.

    Args:
        law: the formula behind the table.
        found: an expression in the columns' names.
        names: of the table's columns.
        points: how many to compare at, half of them far outside.

    Returns:
        exact: it is the formula, coefficients right to 1e-6.
        structure: it is the formula with other coefficients, right to three digits, apart from terms that do
            not show in the third digit of their sum.
        skeleton: the same, with coefficients right to 10 %.
        error: the largest distance, in the units above.
        note: why it could not be compared.
    """
    nothing = {"exact": False, "structure": False, "skeleton": False, "error": float("inf"), "note": ""}
    try:
        expression = fit_tables.parse(found, names)
        unknown = {str(symbol) for symbol in expression.free_symbols} - set(names)
    except Exception as error:  # whatever a tool has printed
        return {**nothing, "note": f"it cannot be read: {type(error).__name__}"}
    if unknown:
        return {**nothing, "note": f"unknown names: {', '.join(sorted(unknown))}"}
    if expression.has(sp.zoo, sp.nan, sp.oo):
        return {**nothing, "note": "it is not finite"}
    columns = _points(law, names, points)
    truth, factors = freed(fit_tables.parse(law.text, names))
    unit = _unit(truth, factors, columns)
    error = distance(expression, truth.subs(dict.fromkeys(factors, 1)), columns, unit)
    if error <= EXACT:
        return {**nothing, "exact": True, "structure": True, "skeleton": True, "error": error}
    near = {name: column[: points // 2] for name, column in columns.items()}
    off = other_coefficients(shortened(expression, near), truth, factors, columns, unit)
    return {**nothing, "structure": off <= DIGITS, "skeleton": off <= LOOSE, "error": error}


def _points(law: Formula, names: Sequence[str], points: int) -> Columns:
    """Points, the first half in the table's range, the second far outside."""
    rng = np.random.default_rng(zlib.crc32(law.text.encode()) + 1)
    halves = [
        fit_tables.draw(law, {n: ranges.get(n, unused) for n in names}, points // 2, rng, careful=True)
        for ranges, unused in zip((law.near, law.far), UNUSED)
    ]
    return {name: np.concatenate([half[name] for half in halves]) for name in names}


def freed(expression: sp.Expr) -> tuple[sp.Expr, list[sp.Symbol]]:
    """The expression with a factor before every term of every sum and before the whole, and these factors."""
    factors: list[sp.Symbol] = []

    def factor() -> sp.Symbol:
        factors.append(sp.Symbol(f"_factor{len(factors)}", real=True))
        return factors[-1]

    def visit(node: sp.Expr) -> sp.Expr:
        if not node.free_symbols or not node.args:
            return node
        if isinstance(node, sp.Add):
            return sp.Add(*(factor() * visit(term) for term in node.args))
        if isinstance(node, sp.Pow):
            return sp.Pow(visit(node.base), node.exp)
        return node.func(*map(visit, node.args))

    body = visit(expression)
    return factor() * body, factors


def _unit(truth: sp.Expr, factors: list[sp.Symbol], columns: Columns) -> np.ndarray:
    """What a change of every coefficient by all of itself makes of the value at most, point by point."""
    at_one = dict.fromkeys(factors, 1)
    slopes = [np.abs(numbers(sp.diff(truth, factor).subs(at_one), columns)) for factor in factors]
    return np.sum(slopes, axis=0)


def distance(found: sp.Expr, truth: sp.Expr, columns: Columns, unit: np.ndarray) -> float:
    """The largest difference, computed with many digits; infinite where the found one is no real number."""
    variables = [sp.Symbol(name, real=True) for name in columns]
    both = [sp.lambdify(variables, expression, "mpmath") for expression in (found, truth)]
    worst = 0.0
    with mpmath.workdps(PRECISION):
        for row, size in zip(zip(*columns.values()), unit):
            point = [mpmath.mpf(float(number)) for number in row]
            try:
                made, real = (mpmath.mpmathify(function(*point)) for function in both)
                worst = max(worst, float(abs(made - real) / size))
            except (ArithmeticError, ValueError, TypeError):
                return float("inf")
            if not worst < float("inf") or abs(mpmath.im(made)) > EXACT * size:
                return float("inf")
    return worst


def numbers(node: sp.Expr, columns: Columns) -> np.ndarray:
    """An expression's values in double precision; complex where a root is of a negative number."""
    count = len(next(iter(columns.values())))
    if node.is_Symbol:
        return columns[node.name].astype(complex)
    if not node.free_symbols:
        return np.full(count, complex(node))
    parts = [numbers(part, columns) for part in node.args]
    with np.errstate(all="ignore"):
        if node.is_Add:
            return np.sum(parts, axis=0)
        if node.is_Mul:
            return np.prod(parts, axis=0)
        if node.is_Pow:
            return parts[0] ** parts[1]
        return np.abs(parts[0]) if isinstance(node, sp.Abs) else np.full(count, np.nan + 0j)


def shortened(node: sp.Expr, columns: Columns) -> sp.Expr:
    """The expression without terms that do not show in the third digit of their sum, at any of the points."""
    if not node.free_symbols or not node.args:
        return node
    node = node.func(*(shortened(part, columns) for part in node.args))
    if not node.is_Add:
        return node
    sizes = np.abs([numbers(term, columns) for term in node.args])
    with np.errstate(all="ignore"):
        shares = (sizes / sizes.sum(axis=0)).max(axis=1)
    return sp.Add(*(term for term, share in zip(node.args, shares) if not share <= UNSEEN))


def other_coefficients(
    found: sp.Expr, truth: sp.Expr, factors: list[sp.Symbol], columns: Columns, unit: np.ndarray
) -> float:
    """How far the found expression is from the truth if other coefficients make them equal; else infinity."""
    target = numbers(found, columns)
    scale = np.abs(target).max()
    if not np.isfinite(target).all() or np.abs(target.imag).max() > 1e-9 * scale:
        return float("inf")
    model, slopes = _model(truth, factors, columns, unit)
    goal = target.real / unit
    with np.errstate(all="ignore"):
        off = float(np.abs(goal - model(np.ones(len(factors)))).max())
        if off > LOOSE:
            return float("inf")
        fit = least_squares(
            lambda at: model(at) - goal, np.ones(len(factors)), jac=slopes, xtol=1e-15, ftol=1e-15, gtol=1e-15
        )
    return off if np.abs(fit.fun).max() <= SAME_FORM else float("inf")


def _model(truth: sp.Expr, factors: list[sp.Symbol], columns: Columns, unit: np.ndarray):
    """The truth's values and their slopes, both in units, as functions of the factors."""
    variables = [*factors, *(sp.Symbol(name, real=True) for name in columns)]
    value = sp.lambdify(variables, truth, "numpy")
    each = [sp.lambdify(variables, sp.diff(truth, factor), "numpy") for factor in factors]
    given = list(columns.values())

    def slopes(at: np.ndarray) -> np.ndarray:
        return np.column_stack([np.broadcast_to(part(*at, *given), unit.shape) / unit for part in each])

    return lambda at: np.broadcast_to(value(*at, *given), unit.shape) / unit, slopes
