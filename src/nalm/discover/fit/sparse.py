"""Polynomial relations of few terms behind noise: all terms first, then the weakest are dropped one by one.

The same relations as in `implicit`, but with a target on one side, so that noise can be averaged out:

    y^s = N(x),    y^s m(x) = N(x) - y^s D(x)

with m the monomial of the denominator that has the coefficient 1. Noise on both sides makes these estimates a
little wrong; they only have to name the terms, whose coefficients are fitted to y itself afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import sympy as sp

from nalm.discover.fit.implicit import exponents

_SHARE_OF_ROWS = 0.4
_MOST_KEPT = 8
"""The most terms of a formula that is not linear."""
_PER_KIND = 2
"""How many formulas of a kind are looked at."""

LINEAR = ((1, None),)
OTHERS = ((2, None), (3, None), (2, 1), (2, 2), (4, None), (3, 1))
"""Degrees of polynomials, simple ones first."""

Term = tuple[int, tuple[int, ...]]
"""A power of the target and the exponents of the inputs."""


def sparse_relations(
    x: np.ndarray,
    y: np.ndarray,
    symbols: Sequence[sp.Symbol],
    kinds: Sequence[tuple[int, int | None]],
    late: Callable[[], bool] = lambda: False,
) -> Iterator[sp.Expr]:
    """Formulas whose relation has few terms.

    Args:
        x: inputs, `n x in`.
        y: targets, shape `n`.
        symbols: the names of the inputs.
        kinds: the degrees of N, and of D or None if there is no D.
        late: whether time is over.
    """
    scales = np.exp(np.log(np.abs(x).clip(1e-300)).mean(0))
    scale = float(np.abs(y).max()) or 1.0
    for degree, below in kinds:
        for power in (1, 2) if degree > 1 else (1,):
            for leading in _leading(x.shape[1], below):
                if late():
                    return
                relation = _Noisy(x / scales, y / scale, power, leading)
                for terms, found in relation.shortest(degree, below):
                    yield _formula(terms, found, relation, scales, scale, symbols)


def _leading(inputs: int, below: int | None) -> list[tuple[int, ...]]:
    """The monomials of the denominator that may have the coefficient 1: the constant, or an input."""
    units = [tuple(int(j == k) for j in range(inputs)) for k in range(inputs)]
    return [(0,) * inputs, *(units if below else [])]


class _Noisy:
    """A relation y^power leading(x) = sum of terms."""

    def __init__(self, x: np.ndarray, y: np.ndarray, power: int, leading: tuple[int, ...]) -> None:
        self.x, self.y, self.power, self.leading = x, y, power, leading

    def column(self, term: Term) -> np.ndarray:
        power, row = term
        return self.y**power * np.prod(self.x ** np.array(row), axis=1)

    def shortest(self, degree: int, below: int | None) -> Iterator[tuple[list[Term], np.ndarray]]:
        """The terms that are left when the criterion is lowest, and one or two less."""
        inputs = self.x.shape[1]
        terms: list[Term] = [(0, tuple(int(e) for e in row)) for row in exponents(inputs, degree)]
        if below is not None:
            rows = (tuple(int(e) for e in row) for row in exponents(inputs, below))
            terms += [(self.power, row) for row in rows if row != self.leading]
        if len(terms) > _SHARE_OF_ROWS * len(self.y):
            return
        target = self.column((self.power, self.leading))
        # An error of y is an error of its power, magnified by the derivative.
        slope = np.abs(self.power * self.y ** (self.power - 1)) * np.abs(self.column((0, self.leading)))
        weights = 1 / np.maximum(slope, 0.05 * np.median(slope) + 1e-300)
        columns = np.stack([self.column(term) for term in terms], -1) * weights[:, None]
        if not np.isfinite(columns).all():
            return
        path = _eliminated(columns, target * weights, _MOST_KEPT if degree > 1 else len(terms))
        for kept in sorted(path, key=lambda k: path[k][0])[:_PER_KIND]:
            _, chosen, found = path[kept]
            yield [terms[k] for k in chosen], found


def _eliminated(
    columns: np.ndarray, target: np.ndarray, most: int
) -> dict[int, tuple[float, list[int], np.ndarray]]:
    """Number of columns left -> criterion (Schwarz 1978), columns, coefficients; the weakest is dropped."""
    chosen, path = list(range(columns.shape[1])), {}
    sizes = np.sqrt((columns**2).sum(0))
    chosen = [k for k in chosen if sizes[k] > 0]
    scaled = columns / np.where(sizes > 0, sizes, 1.0)
    rows = len(target)
    while chosen:
        u, singular, v = np.linalg.svd(scaled[:, chosen], full_matrices=False)
        inverse = 1 / np.maximum(singular, 1e-12 * singular[0])
        found = v.T @ (inverse * (u.T @ target))
        left = target - scaled[:, chosen] @ found
        if len(chosen) <= most:
            mean = max(float((left**2).mean()), 1e-30 * float((target**2).mean()) + 1e-300)
            path[len(chosen)] = (
                rows * np.log(mean) + np.log(rows) * len(chosen),
                list(chosen),
                found / sizes[chosen],
            )
        deviations = np.sqrt(((v.T * inverse) ** 2).sum(1))
        chosen.pop(int(np.argmin(np.abs(found) / deviations)))
    return path


def _formula(
    terms: list[Term],
    found: np.ndarray,
    relation: _Noisy,
    scales: np.ndarray,
    scale: float,
    symbols: Sequence[sp.Symbol],
) -> sp.Expr:
    """The relation solved for y, in its own units."""

    def monomial(row: tuple[int, ...]) -> sp.Expr:
        return sp.Mul(*(s**e for s, e in zip(symbols, row)))

    def size(row: tuple[int, ...]) -> float:
        return float(np.prod(scales ** np.array(row)))

    whole = scale**relation.power / size(relation.leading)
    above, below = [], [monomial(relation.leading)]
    for (power, row), c in zip(terms, found):
        if power:
            below.append(sp.Float(-c * size(relation.leading) / size(row), 15) * monomial(row))
        else:
            above.append(sp.Float(c * whole * size(relation.leading) ** 2 / size(row), 15) * monomial(row))
    made = sp.Add(*above) / sp.Add(*below)
    if relation.power == 1:
        return made
    return sp.sqrt(made) * (-1 if np.median(relation.y) < 0 else 1)
