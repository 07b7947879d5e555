"""How a formula behaves outside the rows that it was found on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula

_POINTS = 2000
_WIDER = 1.0
"""By how many of its widths the box is widened to each side."""


def outside_notes(formula: Formula, low: np.ndarray, high: np.ndarray, names: Sequence[str]) -> list[str]:
    """Sentences on the box of the rows, and on where the formula has no value near it.

    Args:
        formula: the formula.
        low: the least value of each column.
        high: the largest value of each column.
        names: the names of the columns.
    """
    if not formula.used:
        return []
    spans = ", ".join(f"{names[k]} from {_range(low[k], high[k])}" for k in formula.used)
    notes = [f"Rows were seen for {spans}."]
    points = np.random.default_rng(0).uniform(size=(_POINTS, len(low)))
    inside = low + points * (high - low)
    near = low - _WIDER * (high - low) + points * (1 + 2 * _WIDER) * (high - low)
    # Where all rows are positive, so are most quantities of this kind.
    near = np.where(low > 0, np.maximum(near, 1e-3 * low), near)
    near = np.where(high < 0, np.minimum(near, 1e-3 * high), near)
    for part, word in _critical(formula.expression):
        values = Formula(part, formula.symbols)
        text = str(part)
        if _changes_sign(values(inside)):
            notes.append(
                f"The {word} {text} changes its sign among the rows seen, and the formula jumps there."
            )
        elif _changes_sign(np.concatenate([values(inside), values(near)])):
            lost = "the formula has no value beyond" if word == "radicand" else "the formula has a pole there"
            notes.append(f"The {word} {text} reaches zero near the rows seen: {lost}.")
    return notes


def _range(low: float, high: float) -> str:
    """Both ends, with as many digits as it takes to tell them apart."""
    digits = 4
    while digits < 16 and low != high and f"{low:.{digits}g}" == f"{high:.{digits}g}":
        digits += 2
    return f"{low:.{digits}g} to {high:.{digits}g}"


def _critical(expression: sp.Expr) -> list[tuple[sp.Expr, str]]:
    """What must not be zero, and what must not be negative; sums alone, since inputs keep their signs."""
    found: dict[sp.Expr, str] = {}
    for power in expression.atoms(sp.Pow):
        if power.base.is_Add and power.base.free_symbols:
            if power.exp.is_negative:
                found[power.base] = "denominator"
            elif not power.exp.is_integer:
                found.setdefault(power.base, "radicand")
    return sorted(found.items(), key=lambda item: str(item[0]))


def _changes_sign(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite > 0).any() and (finite < 0).any())
