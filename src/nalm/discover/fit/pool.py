"""The formulas that a search has found so far, and which of them is the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from nalm.discover.fit.finish import Fitted

_BITS_PER_PART, _BITS_PER_CONSTANT = 2.0, 4.0
"""What an operation, a name or a number costs, and what a fitted number costs beyond that."""
_COMMON, _RARE = (sp.Rational(1, 2), 1, 2), (sp.Rational(3, 2), 3, 4)
_FLOOR = 1e-14
"""Errors below this share of the target's deviation are not compared."""


@dataclass
class Pool:
    """Formulas with their errors on all rows.

    Attributes:
        rows: the number of rows.
        deviation: the target's standard deviation, or its size if it is constant.
        size: the target's usual size.
        found: the formulas.
    """

    rows: int
    deviation: float
    size: float
    found: list[Fitted] = field(default_factory=list)

    best: Fitted | None = None
    """The formula that explains most with least."""

    def add(self, fitted: Fitted) -> bool:
        """Take a formula in; whether it is the best so far."""
        if not math.isfinite(fitted.error):
            return False
        self.found.append(fitted)
        if self.best is None or self.bits(fitted) < self.bits(self.best):
            self.best = fitted
        return self.best is fitted

    def bits(self, fitted: Fitted) -> float:
        """The bits that it takes to write the formula, and what it leaves unexplained."""
        error = max(fitted.error / self.deviation, _FLOOR)
        return self.rows * math.log2(error) + self.written(fitted)

    def written(self, fitted: Fitted) -> float:
        """The bits that it takes to write the formula."""
        formula = fitted.formula
        parts = _BITS_PER_PART * formula.length + _bits_of_powers(formula.expression)
        return parts + _BITS_PER_CONSTANT * len(formula.constants)

    def front(self) -> list[Fitted]:
        """The formulas that no other beats in both error and length, short ones first."""
        kept: list[Fitted] = []
        for fitted in sorted(self.found, key=lambda f: (f.formula.length, f.error)):
            if not kept or fitted.error < 0.9 * kept[-1].error:
                kept.append(fitted)
        return kept


def _bits_of_powers(expression: sp.Expr) -> float:
    """What unusual exponents cost: squares and roots are common, a power of 5/2 is not."""
    powers = (abs(power.exp) for power in expression.atoms(sp.Pow) if power.exp.is_Rational)
    return sum(0.0 if p in _COMMON else 3.0 if p in _RARE else 7.0 for p in powers)


def deviation_of(y: np.ndarray) -> float:
    """The standard deviation of targets, or their size if they are constant; never zero."""
    return float(y.std() or np.abs(y).max() or 1.0)
