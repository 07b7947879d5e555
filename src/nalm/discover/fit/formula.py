"""A formula with numbers in it that can be fitted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from nalm.discover.formula_values import Tree, tree_of

_STEPS = 12
_RELATIVE = 1e-7
"""Below this relative residual, residuals are weighed by the size of the target: only roundings are left."""
_SETTLED = 1e-3
"""A step that gains less than this share of the squared residuals is the last."""
_LEAST_DAMPING, _MOST_DAMPING = 1e-7, 1e6
_TINY = 1e-300


@dataclass(frozen=True)
class Formula:
    """An expression in which every decimal number is a constant that may be fitted.

    Attributes:
        expression: in the symbols of the inputs; numbers of the kind `sympy.Float` are its constants.
        symbols: the symbols of the inputs, in the order of the columns.
    """

    expression: sp.Expr
    symbols: tuple[sp.Symbol, ...]

    @cached_property
    def _freed(self) -> tuple[sp.Expr, tuple[sp.Symbol, ...], tuple[float, ...]]:
        """The expression with symbols for its constants, these symbols, and their values."""
        values: list[float] = []
        names: list[sp.Symbol] = []

        def free(node: sp.Expr) -> sp.Expr:
            if node.is_Float:
                values.append(float(node))
                names.append(sp.Dummy(f"constant_{len(names)}", real=True))  # no column has the same name
                return names[-1]
            if not node.args:
                return node
            if node.is_Pow and not node.exp.free_symbols:
                return sp.Pow(free(node.base), node.exp, evaluate=False)
            return node.func(*(free(argument) for argument in node.args), evaluate=False)

        body = free(self.expression)
        return body, tuple(names), tuple(values)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made again when needed."""
        return {"expression": self.expression, "symbols": self.symbols}

    @property
    def constants(self) -> tuple[float, ...]:
        """The values of its constants."""
        return self._freed[2]

    def with_constants(self, values: Sequence[Any] | np.ndarray) -> Formula:
        """The same with other constants; numbers of sympy that are no decimals are no longer fitted."""
        body, names, _ = self._freed
        made = [value if isinstance(value, sp.Basic) else sp.Float(float(value), 15) for value in values]
        return Formula(_rebuilt(body, dict(zip(names, made))), self.symbols)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The columns that occur in it."""
        return tuple(k for k, symbol in enumerate(self.symbols) if self.expression.has(symbol))

    @cached_property
    def length(self) -> int:
        """The number of operations, numbers and names."""
        return length(self.expression)

    @cached_property
    def _tree(self) -> Tree:
        body, names, _ = self._freed
        return tree_of(body, [*self.symbols, *names])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Its values, shape `n`, for inputs `n x in`; nan where it has none."""
        return self._at(x, self.constants, ())[0]

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """Derivatives by the inputs, `n x in`."""
        made = np.zeros(x.shape)
        if self.used:
            made[:, list(self.used)] = self._at(x, self.constants, self.used)[1]
        return made

    def _at(
        self, x: np.ndarray, constants: Sequence[float] | np.ndarray, by: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values, shape `n`, and derivatives, `n x p`, by some of the inputs and constants."""
        slopes = {place: np.eye(len(by))[:, k : k + 1] for k, place in enumerate(by)}
        with np.errstate(all="ignore"):
            value, slope = self._tree.at([*x.T, *constants], slopes)
        shape = (len(by), len(x))
        return np.array(np.broadcast_to(value, len(x)), dtype=np.float64), np.array(
            np.broadcast_to(0.0 if slope is None else slope, shape), dtype=np.float64
        ).T

    def fitted(self, x: np.ndarray, y: np.ndarray, steps: int = _STEPS) -> tuple[Formula, np.ndarray]:
        """The constants that fit best, by damped Gauss-Newton steps, and their standard deviations."""
        if not self.constants:
            return self, np.empty(0)
        places = range(len(self.symbols), len(self.symbols) + len(self.constants))
        at, damping = np.array(self.constants), 0.0
        values, slopes = self._at(x, at, places)
        for _ in range(steps):
            if not (np.isfinite(slopes).all() and np.isfinite(values).all()):
                break
            weight = _weight(y, values)
            tried = at + _step(slopes * weight[:, None], (y - values) * weight, damping)
            new_values, new_slopes = self._at(x, tried, places)
            before, after = (_loss(made, y, weight) for made in (values, new_values))
            if after < before:
                at, values, slopes, damping = tried, new_values, new_slopes, damping / 10
                if after > (1 - _SETTLED) * before and damping < _LEAST_DAMPING:
                    break
            elif damping > _MOST_DAMPING or after <= before * (1 + _SETTLED):
                break
            else:
                damping = max(10 * damping, 10 * _LEAST_DAMPING)
        made = self.with_constants(at)
        if len(made.constants) < len(at):  # one has become zero, and its term is gone
            return made.fitted(x, y, steps=0)
        weight = _weight(y, values)
        return made, _deviations(slopes * weight[:, None], (y - values) * weight)


def _weight(y: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The weights of rows: alike, or by the size of the target where only roundings are left."""
    usual = float(np.median(np.abs(y)))
    if np.median(np.abs(y - values)) > _RELATIVE * usual:
        return np.ones(len(y))
    return 1 / np.maximum(np.abs(y), 1e-3 * usual + _TINY)


def _loss(values: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        loss = float(np.mean((weight * (values - y)) ** 2))
    return loss if np.isfinite(loss) else np.inf


def length(expression: sp.Expr) -> int:
    """The number of operations, numbers and names of an expression."""
    return sum(1 for _ in sp.preorder_traversal(expression))


def _rebuilt(node: sp.Expr, values: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    return node.xreplace(values) if not node.args else node.func(*(_rebuilt(a, values) for a in node.args))


def _sizes(slopes: np.ndarray) -> np.ndarray:
    """The lengths of columns, never zero."""
    with np.errstate(over="ignore"):
        return np.clip(np.sqrt((slopes**2).sum(0)), _TINY, 1 / _TINY)


def _step(slopes: np.ndarray, off: np.ndarray, damping: float) -> np.ndarray:
    """The damped Gauss-Newton step, with columns scaled to length 1."""
    sizes = _sizes(slopes)
    scaled = slopes / sizes
    if damping:
        scaled = np.vstack([scaled, np.sqrt(damping) * np.eye(scaled.shape[1])])
        off = np.concatenate([off, np.zeros(scaled.shape[1])])
    return np.linalg.lstsq(scaled, off, rcond=1e-13)[0] / sizes


def _deviations(slopes: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Standard deviations of the constants; infinite if they cannot be computed."""
    if not (np.isfinite(slopes).all() and np.isfinite(off).all()):
        return np.full(slopes.shape[1], np.inf)
    sizes = _sizes(slopes)
    _, singular, ways = np.linalg.svd(slopes / sizes, full_matrices=False)
    singular = np.maximum(singular, 1e-15)
    freedom = max(len(off) - slopes.shape[1], 1)
    with np.errstate(over="ignore"):
        noise = np.sqrt(max((off**2).sum() / freedom, np.finfo(float).tiny))
    return noise * np.sqrt(((ways / singular[:, None]) ** 2).sum(0)) / sizes
