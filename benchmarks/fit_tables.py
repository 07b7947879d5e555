"""Tables from a formula: rows in its range, rows far outside, columns that do not matter, and noise."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import sympy as sp
from sympy.parsing.sympy_parser import parse_expr

Ranges = dict[str, tuple[float, float]]
Columns = dict[str, np.ndarray]
Tables = tuple[np.ndarray, np.ndarray, list[str], np.ndarray, np.ndarray, np.ndarray, np.ndarray]

WIDER = 8.0
"""How many times wider the far range is."""
LEAST_LEFT = 0.1
"""Far rows may lose more than a tenth of a sum by cancellation only as far as rows in the range do."""


@dataclass(frozen=True)
class Formula:
    """A formula: its text, and the range of each variable, in the table and far outside."""

    text: str
    near: Ranges = field(hash=False)
    far: Ranges = field(hash=False)


def formula(text: str, variables: str) -> Formula:
    """A formula from two texts; `"a 1 5, share 0 1 0 2"` gives low and high, and maybe far ones."""
    near, far = {}, {}
    for name, *numbers in (part.split() for part in variables.split(",")):
        low, high, *rest = map(float, numbers)
        near[name] = (low, high)
        far[name] = (rest[0], rest[1]) if rest else wider(low, high)
    return Formula(text, near, far)


def wider(low: float, high: float) -> tuple[float, float]:
    """A range that is wider, and of the same sign if it has one."""
    reach = WIDER * (high - low)
    if low >= 0:
        return low, low + reach
    if high <= 0:
        return high - reach, high
    return WIDER * low, WIDER * high


def parse(text: str, names: Iterable[str]) -> sp.Expr:
    """A text in Python's or sympy's notation; these names are real variables, whatever they are elsewhere."""
    known = {"sqrt": sp.sqrt, "abs": sp.Abs, "square": lambda part: part**2}
    return parse_expr(text.replace("^", "**"), local_dict={**known, **symbols(names)})


def symbols(names: Iterable[str]) -> dict[str, sp.Symbol]:
    """Real variables of these names."""
    return {name: sp.Symbol(name, real=True) for name in names}


@functools.cache
def _compiled(text: str, names: tuple[str, ...]):
    return sp.lambdify(list(symbols(names).values()), parse(text, names), "numpy")


def values(law: Formula, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """What a formula gives at these rows; not a number where it gives none."""
    names = tuple(law.near)
    with np.errstate(all="ignore"):
        made = _compiled(law.text, names)(*(columns[name] for name in names))
    return np.broadcast_to(np.asarray(made, dtype=float), len(columns[names[0]])).copy()


def draw(law: Formula, ranges: Ranges, rows: int, rng: np.random.Generator, careful: bool = False) -> Columns:
    """Rows, uniform in the ranges, where the formula has a value; with `careful`, where it is also tame."""
    kept = {name: np.empty(0) for name in ranges}
    for _ in range(2000):
        drawn = {name: rng.uniform(low, high, max(rows, 200)) for name, (low, high) in ranges.items()}
        good = np.isfinite(values(law, drawn))
        if careful:
            good &= tame(law, drawn)
        kept = {name: np.concatenate([kept[name], drawn[name][good]])[:rows] for name in ranges}
        if len(next(iter(kept.values()))) == rows:
            return kept
    raise RuntimeError(f"{law.text}: too few rows with a value")


def tame(law: Formula, columns: Columns) -> np.ndarray:
    """Rows in which no denominator or radicand changes its sign or comes nearer to zero than in the range."""
    good = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for terms, sign, least in _limits(law.text, tuple(law.near.items())):
        total, left = _remainder(terms, law, columns)
        good &= left >= least
        if sign:
            good &= np.sign(total) == sign
    return good


@functools.cache
def _limits(text: str, near: tuple) -> list[tuple[tuple[str, ...], int, float]]:
    """Sums below a fraction bar or a root: their terms, their sign (0: both), what cancellation leaves."""
    law = Formula(text, dict(near), {})
    columns = draw(law, law.near, 4000, np.random.default_rng(zlib.crc32(text.encode())))
    limits = []
    for terms in _critical(parse(text, law.near)):
        total, left = _remainder(terms, law, columns)
        signs = set(np.sign(total).astype(int))
        limits.append((terms, signs.pop() if len(signs) == 1 else 0, min(LEAST_LEFT, float(left.min()))))
    return limits


def _critical(expression: sp.Expr) -> list[tuple[str, ...]]:
    found = []
    for power in sorted(expression.atoms(sp.Pow), key=str):
        if power.exp.is_integer and power.exp.is_positive:
            continue
        sums = [part for part in sp.Mul.make_args(power.base) if isinstance(part, sp.Add)]
        sums += [part.base for part in sp.Mul.make_args(power.base) if isinstance(part, sp.Pow)]
        found += [
            tuple(map(str, part.args)) for part in sums if isinstance(part, sp.Add) and part.free_symbols
        ]
    return found


def _remainder(terms: tuple[str, ...], law: Formula, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    parts = [values(Formula(term, law.near, {}), columns) for term in terms]
    total = np.sum(parts, axis=0)
    return total, np.abs(total) / np.sum(np.abs(parts), axis=0)


def make(
    law: Formula, rows: int = 200, seed: int = 0, noise: float = 0.0, redundant: int = 0, tests: int = 1000
) -> Tables:
    """A table to fit, fresh rows of the same range and rows far outside.

    Args:
        law: the formula.
        rows: of the table.
        seed: of all that is drawn.
        noise: standard deviation of the noise of the table's target, as a part of the target's.
        redundant: columns that do not matter, each in the range of one that does; all columns are shuffled.
        tests: fresh rows, and far ones; their targets are without noise.

    Returns:
        x, y, names of columns, fresh x, fresh y, far x, far y.
    """
    order = _stream(law, seed, "columns")
    source = {name: name for name in law.near}
    source |= {f"unused{k + 1}": str(order.choice(list(law.near))) for k in range(redundant)}
    names = [str(name) for name in order.permutation(list(source))]

    def table(what: str, count: int, ranges: Ranges, careful: bool = False) -> tuple[np.ndarray, np.ndarray]:
        wanted = {name: ranges[source[name]] for name in names}
        columns = draw(law, wanted, count, _stream(law, seed, what), careful)
        return np.column_stack([columns[name] for name in names]), values(law, columns)

    x, y = table("table", rows, law.near)
    y = y + noise * y.std() * _stream(law, seed, "noise").standard_normal(rows)
    return (x, y, names, *table("fresh", tests, law.near), *table("far", tests, law.far, careful=True))


def _stream(law: Formula, seed: int, what: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(law.text.encode()), zlib.crc32(what.encode())])
