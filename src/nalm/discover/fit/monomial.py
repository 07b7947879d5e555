"""A single product of powers: least squares in logarithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import sympy as sp

_NOTHING = 0.05
"""Exponents nearer to zero than this are dropped, and the others fitted again."""


def monomials(
    x: np.ndarray, y: np.ndarray, symbols: Sequence[sp.Symbol], *, noisy: bool = False
) -> Iterator[sp.Expr]:
    """The product of powers that fits best, if there can be one."""
    usable = [k for k in range(x.shape[1]) if (x[:, k] != 0).all() and np.ptp(np.abs(x[:, k])) > 0]
    if (y == 0).any() or not usable or len(y) <= 1 + len(usable):
        return
    logs, target = np.log(np.abs(x)), np.log(np.abs(y))
    # Noise of the target is larger in logarithms where the target is small.
    weights = np.abs(y) if noisy else np.ones(len(y))
    while usable:
        design = np.column_stack([np.ones(len(y)), logs[:, usable]]) * weights[:, None]
        found = np.linalg.lstsq(design, target * weights, rcond=None)[0]
        exponents = np.round(2 * found[1:]) / 2
        weak = [k for k, e in zip(usable, found[1:]) if abs(e) < _NOTHING]
        if not weak:
            break
        usable = [k for k in usable if k not in weak]
    if not usable or not exponents.any():
        return
    rest = target - logs[:, usable] @ exponents
    sign = -1.0 if np.median(y) < 0 else 1.0
    powers = (symbols[k] ** sp.Rational(round(2 * e), 2) for k, e in zip(usable, exponents) if e)
    yield sp.Float(sign * float(np.exp(np.median(rest))), 15) * sp.Mul(*powers)
