"""What a column tells of the numbers beside it in a formula.

A second column that varies makes all rows differ, but what the rows say of the first stays as little as it
is: four different values are four facts, and a rational function with four numbers fits any four of them. A
range that is short beside the distance to the nearest zero of a sum shows only the first terms of a series,
and (2 + u) / (2 - u) is then as good as an exponential.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula

_ROWS_TO_LOOK_AT = 5
"""The other columns are given the values of so many rows."""
_WIDE = 0.5
"""Bits that a term of a series loses on the one before it: with fewer, all terms can be seen."""


@dataclass(frozen=True)
class Thin:
    """A column that tells too little.

    Attributes:
        column: its place.
        values: how many different values it has, if these are too few; None if its range is too short.
        numbers: how many numbers the formula has beside it.
    """

    column: int
    values: int | None
    numbers: int

    def sentence(self, name: str) -> str:
        """Why the formula may be another one.

        Args:
            name: the name of the column.
        """
        why = (
            "shows only the first terms of a series"
            if self.values is None
            else f"has only {self.values} different values"
        )
        what = "number" if self.numbers == 1 else f"{self.numbers} numbers"
        return f"Column {name} {why}: too few to choose the {what} that the formula has beside it."


def thin_columns(formula: Formula, x: np.ndarray, bits: float) -> list[Thin]:
    """The columns whose values do not tell more than twice what the numbers beside them take.

    Args:
        formula: a formula that fits.
        x: all inputs, `n x in`.
        bits: the precision of the target.
    """
    found = []
    for column in formula.used:
        sums = _sums(formula.expression, formula.symbols[column])
        numbers = sum(sums.values())
        values = len(np.unique(x[:, column]))
        needed = 2 * numbers + 2
        if not numbers:
            continue
        if values < needed:
            found.append(Thin(column, values, numbers))
        elif max(_terms(node, formula, column, x, bits) for node, count in sums.items() if count) < needed:
            found.append(Thin(column, None, numbers))
    return found


def _sums(expression: sp.Expr, symbol: sp.Symbol) -> dict[sp.Add, int]:
    """The sums in which a column occurs, and how many numbers each has beside it."""
    return {node: _numbers(node, symbol) for node in expression.atoms(sp.Add) if node.has(symbol)}


def _numbers(node: sp.Add, symbol: sp.Symbol) -> int:
    """Coefficients of the column's terms, and a number that is added; 1 and -1 are none."""
    beside = [term for term in node.args if term.has(symbol) or not term.free_symbols]
    return sum(abs(sp.Mul(*(f for f in sp.Mul.make_args(t) if not f.free_symbols))) != 1 for t in beside)


def _terms(node: sp.Add, formula: Formula, column: int, x: np.ndarray, bits: float) -> float:
    """How many terms of its series in a column can be seen in data of so many bits."""
    low, high = float(x[:, column].min()), float(x[:, column].max())
    middle, half = (low + high) / 2, (high - low) / 2
    some = x[np.linspace(0, len(x) - 1, min(len(x), _ROWS_TO_LOOK_AT)).astype(int)]
    nearest = min(
        (abs(point - middle) for row in some for point in _points(node, formula, column, row)),
        default=math.inf,
    )
    lost = math.log2(max(nearest, 1e-300) / max(half, 1e-300)) if math.isfinite(nearest) else 0.0
    return math.inf if lost < _WIDE else 1 + bits / lost


def _points(node: sp.Expr, formula: Formula, column: int, row: np.ndarray) -> list[complex]:
    """Where a sum is zero or has no value, as a function of a column, with the others as in a row."""
    symbol = formula.symbols[column]
    others = {formula.symbols[k]: sp.Float(row[k]) for k in formula.used if k != column}
    parts = sp.fraction(sp.together(node.xreplace(others)))
    found: list[complex] = []
    for part in parts:
        if not part.has(symbol):
            continue
        try:
            found += np.roots([complex(c) for c in sp.Poly(part, symbol).all_coeffs()]).tolist()
        except sp.PolynomialError:  # there are roots in it: what is below them counts
            below = {p.base for p in part.atoms(sp.Pow) if p.base.has(symbol) and not p.exp.is_Integer}
            found += [0.0] if symbol in below else []
            found += [point for base in below - {symbol} for point in _points(base, formula, column, row)]
    return found
