"""Sums of monomials, term by term: the one that explains most of what is left comes next.

Orthogonal matching pursuit over a list of monomials, for the target and for powers of it. It is not as sharp
as the other searches, but noise does it little harm.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import sympy as sp

_SINGLE = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
_PAIRS = (-2.0, -1.0, 1.0, 2.0)
_TRIPLES = (-1.0, 1.0, 2.0)
_MOST_TERMS = 7
_MOST_INPUTS = 8
_ENOUGH = 1e-13


def listed(inputs: int) -> np.ndarray:
    """The exponents of the monomials that are tried, `monomials x in`; the first is the constant."""
    found = [np.zeros(inputs)]
    for size, powers in ((1, _SINGLE), (2, _PAIRS), (3, _TRIPLES)):
        if size > 2 and inputs > _MOST_INPUTS:
            break
        for chosen in itertools.combinations(range(inputs), size):
            for exponents in itertools.product(powers, repeat=size):
                row = np.zeros(inputs)
                row[list(chosen)] = exponents
                found.append(row)
    return np.stack(found)


def stepwise_formulas(
    x: np.ndarray, y: np.ndarray, symbols: Sequence[sp.Symbol], power: int
) -> Iterator[sp.Expr]:
    """Formulas y = (sum of monomials)^(1 / power) with one term, two, and so on.

    Args:
        x: inputs, `n x in`.
        y: targets, shape `n`; of one sign unless the power is 1.
        symbols: the names of the inputs.
        power: the power of the target that is a sum.
    """
    if power != 1 and not ((y > 0).all() or (y < 0).all()):
        return
    exponents = listed(x.shape[1])
    with np.errstate(all="ignore"):
        values = np.stack([np.prod(np.where(row == 0, 1.0, x**row), axis=1) for row in exponents], -1)
    usable = np.isfinite(values).all(0) & (np.abs(values).max(0) > 0)
    exponents, values = exponents[usable], values[:, usable]
    sign = -1.0 if power != 1 and y[0] < 0 else 1.0
    target = (sign * y) ** power
    # An error of y is an error of its power, magnified by the derivative.
    weights = 1 / np.abs(power * (sign * y) ** (power - 1)) if power != 1 else np.ones(len(y))
    for chosen, found in _pursuit(values * weights[:, None], target * weights):
        terms = [
            sp.Float(c, 15)
            * sp.Mul(*(s ** sp.Rational(round(2 * e), 2) for s, e in zip(symbols, exponents[k]) if e))
            for k, c in zip(chosen, found)
        ]
        total = sp.Add(*terms)
        if total.free_symbols:
            yield sign * total if power == 1 else sp.Integer(int(sign)) * total ** sp.Rational(1, power)


def _pursuit(columns: np.ndarray, target: np.ndarray) -> Iterator[tuple[list[int], np.ndarray]]:
    """Chosen columns and their coefficients, one column more each time."""
    sizes = np.sqrt((columns**2).sum(0))
    units = columns / np.where(sizes > 0, sizes, 1.0)
    chosen: list[int] = []
    left = target
    for _ in range(min(_MOST_TERMS, len(target) // 3)):
        # What each further column would explain beside those chosen already.
        rest = units if not chosen else units - _projected(units[:, chosen], units)
        lengths = np.sqrt((rest**2).sum(0))
        gains = np.where(lengths > 1e-6, np.abs(rest.T @ left) / np.maximum(lengths, 1e-6), 0.0)
        gains[chosen] = 0.0
        chosen.append(int(np.argmax(gains)))
        found = np.linalg.lstsq(columns[:, chosen], target, rcond=None)[0]
        left = target - columns[:, chosen] @ found
        yield list(chosen), found
        if np.sqrt((left**2).mean()) <= _ENOUGH * np.sqrt((target**2).mean()):
            return


def _projected(basis: np.ndarray, columns: np.ndarray) -> np.ndarray:
    q, _ = np.linalg.qr(basis)
    return q @ (q.T @ columns)
