"""Tables by kind, most of them such that no formula of them may be called exact, each with the law behind it.

Columns are a, b, c, … in the laws. Fresh rows have independent columns, whatever those of the table have in
common, and are drawn from a wider range where the law is outside the language of formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

Rng = np.random.Generator
Law = Callable[[np.ndarray], np.ndarray]


@dataclass
class Table:
    """A table, fresh rows of its law (none: the targets are random), and the precision of its numbers."""

    x: np.ndarray
    y: np.ndarray
    fresh: np.ndarray
    law: Law | None
    precision: float = 1e-8
    half_unit: float = 0.0
    about: dict[str, Any] = field(default_factory=dict)


INSIDE = (
    "a + b",
    "a - b",
    "a*b",
    "a/b",
    "a*b + c",
    "a*b/c",
    "b*sqrt(a)",
    "a**2 + b**2",
    "(a + b)/c",
    "a/(b + c)",
    "sqrt(a**2 + b**2)",
    "2.5*a - 1.7*b + 3",
    "a*b**2/2",
    "1/(1/a + 1/b)",
    "sqrt(a + b)",
    "a - b/c",
    "pi*a**2*b",
    "3*a",
    "a**2 - 4*a + 7",
    "1/a",
    "a*b*c",
    "0.37*a/sqrt(b)",
)
"""Laws in the language, of few steps."""
OUTSIDE = (
    "sin(a)",
    "cos(2*a)",
    "exp(a)",
    "exp(-a)",
    "log(a)",
    "tanh(a)",
    "arctan(a)",
    "gamma(a)",
    "erf(a)",
    "a**(1/3)",
    "a**0.3",
    "a**b",
    "sin(a*b)",
    "exp(-a*b/4)",
    "log(a + b)",
)
"""Smooth laws outside the language, on positive numbers."""
BROKEN = (
    "abs(a)",
    "abs(a - b)",
    "floor(a)",
    "mod(a, 1.7)",
    "maximum(a, b)",
    "minimum(a, 2*b)",
    "sign(a)",
    "rint(a)",
)
"""Laws of several branches: of these, tables show more than one."""
PARTNERS = ("{f}", "{f}", "3*{f}", "b*{f}", "a*b + {f}", "{f}/c", "c - 2*{f}", "b**2*{f} + c", "sqrt(b)*{f}")
RANGES = ((1.0, 5.0), (1.0, 2.0), (0.1, 10.0), (10.0, 100.0))
POSITIVE = ((1.0, 1.1), (1.0, 2.0), (0.2, 5.0), (2.0, 8.0))
SIGNED = ((-3.0, 3.0), (-8.0, 5.0))
_FUNCTIONS = {
    **{name: getattr(np, name) for name in ("sin", "cos", "exp", "log", "tanh", "arctan", "sqrt", "floor")},
    **{name: getattr(np, name) for name in ("abs", "mod", "maximum", "minimum", "sign", "rint", "pi")},
    "gamma": special.gamma,
    "erf": special.erf,
}


def law(text: str) -> Law:
    """A law from its text."""
    code = compile(text, "<law>", "eval")

    def value(x: np.ndarray) -> np.ndarray:
        columns = dict(zip("abcdefgh", x.T))
        return np.broadcast_to(eval(code, {"__builtins__": {}}, _FUNCTIONS | columns), len(x)).astype(float)

    return value


def pick(rng: Rng, items: tuple) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def columns_of(text: str) -> int:
    """How many columns a law needs."""
    return max(ord(letter) - ord("a") + 1 for letter in "abc" if _uses(text, letter))


def _uses(text: str, letter: str) -> bool:
    return letter in compile(text, "<law>", "eval").co_names


def uniform(rng: Rng, limits: tuple[float, float], rows: int, columns: int) -> np.ndarray:
    """Independent columns."""
    return rng.uniform(*limits, (rows, columns))


def inside(rng: Rng, rows: int, spare: int = 3, limits: tuple[float, float] | None = None) -> Table:
    """A law in the language with up to some columns that do not matter."""
    text, limits = pick(rng, INSIDE), limits or pick(rng, RANGES)
    columns = columns_of(text) + int(rng.integers(spare))
    x, fresh = uniform(rng, limits, rows, columns), uniform(rng, limits, 500, columns)
    about = {"law": text, "range": limits, "rows": rows, "columns": columns}
    return Table(x, law(text)(x), fresh, law(text), about=about)


def clean(rng: Rng) -> Table:
    """A law in the language, rows enough: exact is right."""
    return inside(rng, int(rng.integers(20, 201)))


def single(rng: Rng) -> Table:
    """The same in single precision, as such or as numbers that were stored so: exact is right."""
    table = clean(rng)
    kept = table.x.astype(np.float32)
    y = (table.law(kept.astype(float)) if rng.random() < 0.5 else table.y).astype(np.float32)
    kind = pick(rng, (np.float32, np.float64))
    table.x, table.y, table.precision = kept.astype(kind), y.astype(kind), 1e-5
    table.about |= {"type": kind.__name__}
    return table


def constant(rng: Rng) -> Table:
    """A law in the language beside columns that do not change: exact is right."""
    table = inside(rng, int(rng.integers(20, 201)))
    value = pick(rng, (1.7, -3.0, 7.25, 1e6))  # of 0 and 1 it cannot be seen whether they are read
    table.x, table.fresh = (np.column_stack([x, np.full(len(x), value)]) for x in (table.x, table.fresh))
    table.about["constant"] = value
    return table


def random(rng: Rng) -> Table:
    """Targets that have nothing to do with the inputs."""
    rows, columns = int(rng.integers(20, 201)), int(rng.integers(1, 6))
    x = uniform(rng, pick(rng, RANGES), rows, columns)
    how = pick(rng, ("uniform", "normal", "whole", "whole inputs", "two values"))
    if how == "whole inputs":
        x = rng.integers(1, 10, (rows, columns)).astype(float)
    y = {
        "uniform": rng.uniform(1, 5, rows),
        "normal": rng.standard_normal(rows),
        "whole": rng.integers(1, 10, rows).astype(float),
        "whole inputs": rng.integers(1, 10, rows).astype(float),
        "two values": (rng.random(rows) < 0.5).astype(float),
    }[how]
    return Table(x, y, x, None, about={"how": how, "rows": rows, "columns": columns})


def few_random(rng: Rng) -> Table:
    """Three to twelve rows of random numbers."""
    rows, columns, whole = int(rng.integers(3, 13)), int(rng.integers(1, 5)), rng.random() < 0.6
    x = rng.integers(1, 10, (rows, columns)).astype(float) if whole else uniform(rng, (1, 5), rows, columns)
    y = rng.integers(1, 20, rows).astype(float) if whole else rng.uniform(1, 5, rows)
    y[0] += 1.0 if np.ptp(y) == 0 else 0.0
    return Table(x, y, x, None, about={"rows": rows, "columns": columns, "whole": bool(whole)})


def few_law(rng: Rng) -> Table:
    """Three to twelve rows of a law in the language: exact is right if it is the law."""
    rows, whole = int(rng.integers(3, 13)), rng.random() < 0.6
    table = inside(rng, rows)
    if whole:
        table.x = rng.integers(1, 10, table.x.shape).astype(float)
        table.y = table.law(table.x)
    table.about["whole"] = bool(whole)
    return table


def outside(rng: Rng, smooth: bool = True, rows: int | None = None) -> Table:
    """A law outside the language, alone or with products, on a narrow or a wide range."""
    text = pick(rng, PARTNERS).format(f=f"({pick(rng, OUTSIDE if smooth else BROKEN)})")
    text = text if smooth else text.replace("sqrt(b)", "b")
    low, high = pick(rng, POSITIVE if smooth else SIGNED)
    columns = min(columns_of(text) + int(rng.integers(3)), 5)
    rows = rows or int(pick(rng, (15, 30, 60, 200)))
    x = uniform(rng, (low, high), rows, columns)
    fresh = uniform(rng, (low, low + 3 * (high - low)) if smooth else (low, high), 500, columns)
    about = {"law": text, "range": (low, high), "rows": rows, "columns": columns}
    return Table(x, law(text)(x), fresh, law(text), about=about)


def broken(rng: Rng) -> Table:
    """A law of several branches."""
    return outside(rng, smooth=False, rows=int(pick(rng, (30, 60, 200))))


def single_outside(rng: Rng) -> Table:
    """A law outside the language in single precision."""
    table = outside(rng)
    table.x, table.y, table.precision = table.x.astype(np.float32), table.y.astype(np.float32), 1e-5
    return table


def noise(rng: Rng) -> Table:
    """Targets with noise of 1e-6 to 1e-2, of their deviation or of each."""
    table, size = inside(rng, int(rng.integers(20, 201))), 10.0 ** rng.uniform(-6, -2)
    unit = np.std(table.y) if rng.random() < 0.5 else np.abs(table.y)
    table.y = table.y + size * unit * rng.standard_normal(len(table.y))
    table.about["noise"] = size
    return table


def outliers(rng: Rng) -> Table:
    """One to five rows that are wrong."""
    table, count = inside(rng, int(rng.integers(20, 201))), int(rng.integers(1, 6))
    wrong = rng.choice(len(table.y), count, replace=False)
    table.y[wrong] += rng.choice([1e-4, 0.1, 10.0]) * (1 + rng.random(count)) * np.std(table.y)
    table.about["outliers"] = count
    return table


def rounded(rng: Rng) -> Table:
    """Targets rounded to some places, of laws inside and outside the language."""
    table = inside(rng, int(rng.integers(20, 201))) if rng.random() < 0.5 else outside(rng)
    places = 3 - int(np.floor(np.log10(np.std(table.y) + 1e-300))) - int(rng.integers(4))
    table.y, table.half_unit = np.round(table.y, places), 0.5 * 10.0**-places
    table.about["places"] = places
    return table


def _related(rng: Rng, make: Callable[[np.ndarray], np.ndarray], how: str) -> Table:
    """One more column, made of the others, that the law may use in place of its first."""
    table = inside(rng, int(rng.integers(20, 201)))
    x = np.column_stack([table.x, make(table.x)])
    fresh = np.column_stack([table.fresh, rng.permutation(make(table.fresh))])
    used = rng.random() < 0.5
    order = [x.shape[1] - 1, *range(1, x.shape[1] - 1), 0] if used else list(range(x.shape[1]))
    true = table.law
    table.law = lambda rows: true(rows[:, order[:-1]])
    with np.errstate(all="ignore"):
        y = table.law(x)
    if not np.isfinite(y).all():
        table.law, y, used = (lambda rows: true(rows[:, :-1])), true(x[:, :-1]), False
    good = np.isfinite(table.law(fresh))
    table.about |= {"how": how, "used": bool(used)}
    return Table(x, y, fresh[good], table.law, about=table.about)


def copied(rng: Rng) -> Table:
    """A column that is another, times something and plus something."""
    slope, shift = pick(rng, ((1.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.8, 32.0), (-1.0, 200.0), (1000.0, 0.0)))
    return _related(rng, lambda x: slope * x[:, 0] + shift, f"{slope:g}*a + {shift:g}")


def nearly_copied(rng: Rng) -> Table:
    """A column that is another to 4 to 10 digits."""
    digits = int(rng.integers(4, 11))
    return _related(
        rng, lambda x: x[:, 0] * (1 + 10.0**-digits * rng.uniform(-1, 1, len(x))), f"{digits} digits"
    )


def collinear(rng: Rng) -> Table:
    """A column that is a sum, a product, a ratio or a power of others."""
    how = pick(rng, ("sum", "product", "ratio", "square", "root"))
    make = {
        "sum": lambda x: x[:, 0] + x[:, -1] + (x.shape[1] == 1),
        "product": lambda x: x[:, 0] * x[:, -1],
        "ratio": lambda x: x[:, 0] / x[:, -1] if x.shape[1] > 1 else 1 / x[:, 0],
        "square": lambda x: x[:, 0] ** 2,
        "root": lambda x: np.sqrt(x[:, 0]),
    }[how]
    return _related(rng, make, how)


def repeated(rng: Rng) -> Table:
    """Few rows, many times over: random numbers, or a law outside the language."""
    table = few_random(rng) if rng.random() < 0.5 else outside(rng, rows=int(rng.integers(3, 9)))
    often = rng.permutation(np.repeat(np.arange(len(table.y)), int(rng.integers(5, 30))))
    table.x, table.y = table.x[often], table.y[often]
    table.about["given"] = len(often)
    return table


KINDS: dict[str, Callable[[Rng], Table]] = {
    "clean": clean,
    "single precision": single,
    "constant column": constant,
    "random": random,
    "few rows, random": few_random,
    "few rows of a law": few_law,
    "outside, smooth": outside,
    "outside, branches": broken,
    "outside, single": single_outside,
    "noise": noise,
    "outliers": outliers,
    "rounded": rounded,
    "copied column": copied,
    "nearly copied": nearly_copied,
    "collinear": collinear,
    "repeated rows": repeated,
}
RIGHT = ("clean", "single precision", "constant column")
"""Kinds of which exact is right, and can be expected."""


def table(kind: str, seed: int) -> Table:
    """The table of a kind with this seed."""
    return KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
