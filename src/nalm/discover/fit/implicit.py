"""Polynomial relations between target and inputs, by linear algebra alone.

Every formula of + - * / and roots satisfies P(x, y) = 0 for a polynomial P. If the monomials of P are in a
list, its coefficients are a null vector of the matrix of their values. Three kinds of relations are tried,
those with few unknown coefficients first:

    y^s = N(x)                    polynomials and roots of polynomials
    y^s D(x) = N(x)               rational functions and their roots
    y^2 + y B(x) = C(x)           a root beside other terms, as in (-b + sqrt(b^2 - 4 a c)) / 2 a

Nothing is drawn at random and nothing can get stuck, but it works only for data without noise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula

_HIGHEST = 6
"""The highest degree that is tried."""
_SHARE_OF_ROWS = 0.8
"""Unknown coefficients may be at most this share of the rows, so that the other rows can contradict them."""
NOTHING = 3e-14
"""Singular values below this share of the largest are zero."""
_SMALL = 1e-7
"""Coefficients below this share of the largest, in columns of length 1, are zero."""
_STRONG = 1e-2
"""A term that is given the coefficient 1 is at least this share of the strongest one, for usual inputs."""
_MOST_NULL = 40
_LONGEST = 16
"""Relations of more terms are no formulas: they come close to any smooth surface."""


@dataclass(frozen=True)
class Relation:
    """The kind of a relation.

    Attributes:
        power: s, the power of the target.
        denominator: the degree of D less that of N, or None for none.
        linear: the degree of B less that of C, or None for none.
    """

    power: int
    denominator: int | None = None
    linear: int | None = None


KINDS = (
    Relation(1),
    Relation(2),
    Relation(1, denominator=0),
    Relation(2, denominator=0),
    Relation(2, linear=-1),
    Relation(2, denominator=-2, linear=-1),
    Relation(1, denominator=-1),
    Relation(2, denominator=-2),
    Relation(2, denominator=0, linear=0),
    Relation(2, denominator=-4, linear=-2),
)


def exponents(inputs: int, degree: int) -> np.ndarray:
    """The exponents of all monomials up to a degree, low degrees first, `monomials x in`."""
    found = [
        [chosen.count(k) for k in range(inputs)]
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(inputs), total)
    ]
    return np.array(found, dtype=int).reshape(-1, inputs)


def relations(
    x: np.ndarray,
    y: np.ndarray,
    symbols: Sequence[sp.Symbol],
    order: Sequence[int],
    terms: tuple[int, int],
    nothing: float = NOTHING,
    late: Callable[[], bool] = lambda: False,
) -> Iterator[sp.Expr]:
    """Formulas for y whose relation holds in all rows, as they are found.

    Args:
        x: inputs, `n x in`.
        y: targets, shape `n`.
        symbols: the names of the inputs.
        order: the inputs to use, the most relevant first.
        terms: from and below how many unknown coefficients.
        nothing: the relative size of singular values that count as zero: the precision of the data.
        late: whether time is over.
    """
    scales = np.exp(np.log(np.abs(x).clip(1e-300)).mean(0))
    scale = float(np.abs(y).max()) or 1.0
    for kind, degree, count in _by_size(len(order), terms, _SHARE_OF_ROWS * len(x)):
        if late():
            return
        used = list(order[:count])
        found = _null_vector(x[:, used] / scales[used], y / scale, kind, degree, nothing)
        if found is not None:
            names = [symbols[k] for k in used]
            solved = _solved(found, kind, scales[used], scale, x[:, used], y, names)
            if solved is not None:
                yield solved


def _by_size(inputs: int, terms: tuple[int, int], most: float) -> list[tuple[Relation, int, int]]:
    """Kinds, degrees and numbers of inputs of relations, those of few terms first."""
    found = []
    for place, kind in enumerate(KINDS):
        for degree, count in itertools.product(range(1, _HIGHEST + 1), range(1, inputs + 1)):
            size = _size(kind, count, degree)
            if size is not None and terms[0] <= size < min(terms[1], most):
                found.append((size, place, degree, count))
    return [(KINDS[place], degree, count) for _, place, degree, count in sorted(found)]


def _size(kind: Relation, inputs: int, degree: int) -> int | None:
    """The number of unknown coefficients, or None if there is no such relation."""
    degrees = _degrees(kind, degree)
    return None if degrees is None else sum(math.comb(inputs + d, d) for d in degrees.values())


@dataclass(frozen=True)
class _Found:
    """Coefficients of a relation: power of y -> exponents of x -> coefficient."""

    parts: dict[int, dict[tuple[int, ...], float]]


def _degrees(kind: Relation, degree: int) -> dict[int, int] | None:
    """Power of y -> degree of the polynomial that it is multiplied with; None if there is no such one."""
    degrees = {0: degree}
    if kind.linear is not None:
        degrees[1] = degree + kind.linear
    degrees[kind.power] = 0 if kind.denominator is None else degree + kind.denominator
    none = min(degrees.values()) < 0 or (kind.denominator is not None and degrees[kind.power] == 0)
    return None if none else degrees


def _null_vector(x: np.ndarray, y: np.ndarray, kind: Relation, degree: int, nothing: float) -> _Found | None:
    """The sparsest relation of a kind that holds in all rows, if there is one."""
    degrees = _degrees(kind, degree)
    assert degrees is not None  # `_by_size` lists only relations that there are
    keys, columns = [], []
    for power, highest in degrees.items():
        for row in exponents(x.shape[1], highest):
            keys.append((power, tuple(int(e) for e in row)))
            columns.append(y**power * np.prod(x**row, axis=1))
    matrix = np.column_stack(columns)
    lengths = np.sqrt((matrix**2).mean(0))
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        return None
    matrix = matrix / lengths
    plain = np.array([power == 0 for power, _ in keys])
    if not _holds(matrix, plain, nothing):
        return None
    vector = _sparse_null(matrix, plain, [sum(e) + 2 * p for p, e in keys], nothing)
    if vector is None:
        return None
    parts: dict[int, dict[tuple[int, ...], float]] = {}
    for (power, row), value, length in zip(keys, vector, lengths):
        if value:
            parts.setdefault(power, {})[row] = float(value / length)
    return _Found(parts) if any(parts.get(p) for p in parts if p) else None


def _holds(matrix: np.ndarray, plain: np.ndarray, nothing: float) -> bool:
    """Whether some combination of the columns with y is a combination of those without."""
    q, _ = np.linalg.qr(matrix[:, plain])
    rest = matrix[:, ~plain] - q @ (q.T @ matrix[:, ~plain])
    return bool(np.linalg.svd(rest, compute_uv=False)[-1] <= nothing * np.sqrt(len(matrix)))


def _sparse_null(
    matrix: np.ndarray, plain: np.ndarray, weights: Sequence[int], nothing: float
) -> np.ndarray | None:
    """A null vector with few non-zero entries, of low weights; of columns of length 1."""
    _, sizes, directions = np.linalg.svd(matrix, full_matrices=False)
    null = directions[sizes <= 3 * nothing * sizes[0]]
    if not 0 < len(null) <= _MOST_NULL:
        return None
    reduced = _reduced(null, np.argsort(-np.asarray(weights), kind="stable"))
    supports = [np.flatnonzero(np.abs(row) > _SMALL * np.abs(row).max()) for row in reduced]
    for support in sorted(supports, key=len):
        if plain[support].all() or len(support) > _LONGEST:
            continue  # a relation of the inputs alone, or no formula
        _, few, ways = np.linalg.svd(matrix[:, support], full_matrices=False)
        if len(few) < len(support) or few[-1] > 3 * nothing * few[0]:
            continue
        vector = np.zeros(matrix.shape[1])
        vector[support] = ways[-1]
        return vector
    return None


def _reduced(null: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The row echelon form of null vectors, with pivots in the given order of columns."""
    rows, done = null.copy(), 0
    for column in order:
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) < _SMALL:
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        rows[:, column] = 0.0
        rows[done, column] = 1.0
        done += 1
    return rows


def _solved(
    found: _Found,
    kind: Relation,
    scales: np.ndarray,
    scale: float,
    x: np.ndarray,
    y: np.ndarray,
    symbols: Sequence[sp.Symbol],
) -> sp.Expr | None:
    """The relation solved for y; of two roots the one that fits more rows."""
    parts = _in_own_units(found, scales, scale)
    free, once, highest = (_polynomial(parts.get(p, {}), symbols) for p in (0, 1, kind.power))
    if kind.power == 1:
        roots = [sp.expand(-free) / highest]
    elif once == 0 or kind.linear is None:
        square = sp.expand(-free) / highest
        roots = [sp.sqrt(square), -sp.sqrt(square)]
        # A target that changes its sign with a column is that column times a root.
        for symbol, column in zip(symbols, x.T):
            if (y < 0).any() and (y * column >= 0).all() | (y * column <= 0).all():
                part = symbol * sp.sqrt(sp.expand(-free / symbol**2) / highest)
                roots += [part, -part]
    elif highest == 0:
        roots = [sp.expand(-free) / once]
    else:
        middle = sp.expand(-once / 2)
        inner = sp.sqrt(sp.expand(middle**2 - free * highest))
        roots = [(middle + inner) / highest, (middle - inner) / highest]
    return min(roots, key=lambda root: _median_error(root, x, y, symbols), default=None)


def _in_own_units(found: _Found, scales: np.ndarray, scale: float) -> dict[int, dict[tuple[int, ...], float]]:
    """Coefficients for inputs and targets that are not scaled; the simplest one before y is 1."""
    parts = {
        power: {row: c / scale**power / float(np.prod(scales ** np.array(row))) for row, c in terms.items()}
        for power, terms in found.parts.items()
    }
    highest = max(parts)
    sizes = {row: abs(c) for row, c in found.parts[highest].items()}
    strong = [row for row, size in sizes.items() if size > _STRONG * max(sizes.values())]
    simplest = parts[highest][min(strong, key=lambda row: (sum(row), -sizes[row]))]
    return {power: {row: c / simplest for row, c in terms.items()} for power, terms in parts.items()}


def _polynomial(terms: dict[tuple[int, ...], float], symbols: Sequence[sp.Symbol]) -> sp.Expr:
    """A polynomial; a coefficient that is 1 by choice is not a number to fit."""
    return sp.Add(
        *(
            (sp.Integer(1) if c == 1 else sp.Float(c, 15)) * sp.Mul(*(s**e for s, e in zip(symbols, row)))
            for row, c in terms.items()
        )
    )


def _median_error(root: sp.Expr, x: np.ndarray, y: np.ndarray, symbols: Sequence[sp.Symbol]) -> float:
    off = np.abs(Formula(root, tuple(symbols))(x) - y)
    return float(np.median(np.where(np.isfinite(off), off, np.inf)))
