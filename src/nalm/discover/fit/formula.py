"""A formula with numbers in it that can be fitted again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

_STEPS = 12
_RELATIVE = 1e-7
"""Below this relative residual, residuals are weighed by the size of the target: only roundings are left."""
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

        def free(node: sp.Expr) -> sp.Expr:
            if node.is_Float:
                values.append(float(node))
                return sp.Symbol(f"constant_{len(values) - 1}", real=True)
            if not node.args:
                return node
            if node.is_Pow and not node.exp.free_symbols:
                return sp.Pow(free(node.base), node.exp, evaluate=False)
            return node.func(*(free(argument) for argument in node.args), evaluate=False)

        body = free(self.expression)
        return body, tuple(sp.Symbol(f"constant_{k}", real=True) for k in range(len(values))), tuple(values)

    def __getstate__(self) -> dict[str, Any]:
        """Without compiled functions, which cannot be pickled and are made again when needed."""
        return {"expression": self.expression, "symbols": self.symbols}

    @property
    def constants(self) -> tuple[float, ...]:
        """The values of its constants."""
        return self._freed[2]

    def with_constants(self, values: Sequence[Any]) -> Formula:
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

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Its values, shape `n`, for inputs `n x in`; nan where it has none."""
        return self._values(self.constants, x, [self._freed[0]], self._compiled)[:, 0]

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """Derivatives by the inputs, `n x in`."""
        made = np.zeros(x.shape)
        if self.used:
            made[:, list(self.used)] = self._values(self.constants, x, None, self._input_slopes)
        return made

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return self._function([self._freed[0]])

    @cached_property
    def _input_slopes(self) -> Callable[..., Any]:
        return self._function([self._freed[0].diff(self.symbols[k]) for k in self.used])

    @cached_property
    def _constant_slopes(self) -> Callable[..., Any]:
        return self._function([self._freed[0].diff(name) for name in self._freed[1]])

    def _function(self, bodies: list[sp.Expr]) -> Callable[..., Any]:
        # Columns may have any names, or the same as a function's: they are numbered before code is made.
        plain = [sp.Symbol(f"column_{k}", real=True) for k in range(len(self.symbols))]
        renamed = [body.xreplace(dict(zip(self.symbols, plain))) for body in bodies]
        return sp.lambdify([*self._freed[1], *plain], renamed, "numpy", cse=True)

    def _values(self, constants: Sequence[float], x: np.ndarray, _: Any, function: Callable[..., Any]) -> np.ndarray:
        with np.errstate(all="ignore"):
            made = function(*constants, *x.T)
        columns = [np.broadcast_to(np.asarray(column), len(x)) for column in made]
        if any(np.iscomplexobj(column) for column in columns):
            columns = [np.where(np.abs(np.imag(c)) > 0, np.nan, np.real(c)) for c in columns]
        return np.stack([np.asarray(column, dtype=float) for column in columns], -1)

    def fitted(self, x: np.ndarray, y: np.ndarray, steps: int = _STEPS) -> tuple[Formula, np.ndarray]:
        """The constants that fit best, and their standard deviations."""
        if not self.constants:
            return self, np.empty(0)
        at = np.array(self.constants)
        best, loss = at, np.inf
        weight, damping = np.ones(len(y)), 0.0
        deviation = np.full(len(at), np.inf)
        for _ in range(steps):
            off = y - self._values(at, x, None, self._compiled)[:, 0]
            now = float(np.mean((weight * off) ** 2))
            if not np.isfinite(now) or (np.isfinite(loss) and now > loss * (1 + 1e-12)):
                if damping > 1e6:
                    break
                damping = max(10 * damping, 1e-6)
                at = best
                off = y - self._values(at, x, None, self._compiled)[:, 0]
            else:
                settled = np.isfinite(loss) and now >= loss * (1 - 1e-3) and damping == 0
                best, loss, damping = at, now, damping / 10 if damping > 1e-7 else 0.0
                if settled or now == 0:
                    break
            slopes = self._values(at, x, None, self._constant_slopes)
            if not (np.isfinite(slopes).all() and np.isfinite(off).all()):
                break
            close = np.median(np.abs(off)) <= _RELATIVE * np.median(np.abs(y))
            new = 1 / np.maximum(np.abs(y), 1e-3 * np.median(np.abs(y)) + _TINY) if close else np.ones(len(y))
            if not np.array_equal(new, weight):
                weight, loss = new, float(np.mean((new * off) ** 2))
            at = best + _step(slopes * weight[:, None], off * weight, damping)
        slopes = self._values(best, x, None, self._constant_slopes) * weight[:, None]
        off = (y - self._values(best, x, None, self._compiled)[:, 0]) * weight
        if np.isfinite(slopes).all() and np.isfinite(off).all():
            deviation = _deviations(slopes, off)
        return self.with_constants(best), deviation


def length(expression: sp.Expr) -> int:
    """The number of operations, numbers and names of an expression."""
    return sum(1 for _ in sp.preorder_traversal(expression))


def _rebuilt(node: sp.Expr, values: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    return node.xreplace(values) if not node.args else node.func(*(_rebuilt(a, values) for a in node.args))


def _step(slopes: np.ndarray, off: np.ndarray, damping: float) -> np.ndarray:
    """The damped Gauss-Newton step, with columns scaled to length 1."""
    sizes = np.maximum(np.sqrt((slopes**2).sum(0)), _TINY)
    scaled = slopes / sizes
    if damping:
        scaled = np.vstack([scaled, np.sqrt(damping) * np.eye(scaled.shape[1])])
        off = np.concatenate([off, np.zeros(scaled.shape[1])])
    return np.linalg.lstsq(scaled, off, rcond=1e-13)[0] / sizes


def _deviations(slopes: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Standard deviations of the constants."""
    sizes = np.maximum(np.sqrt((slopes**2).sum(0)), _TINY)
    _, singular, ways = np.linalg.svd(slopes / sizes, full_matrices=False)
    singular = np.maximum(singular, 1e-15)
    freedom = max(len(off) - slopes.shape[1], 1)
    noise = np.sqrt(max((off**2).sum() / freedom, np.finfo(float).tiny))
    return noise * np.sqrt(((ways / singular[:, None]) ** 2).sum(0)) / sizes
