"""Helpers for the symbolic forms of units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor, nn


class Followed(Tensor):
    """A tensor that is followed through a model to read its formula: units call `through` with themselves."""

    def through(self, unit: nn.Module) -> Tensor:
        """The result of applying the unit to it."""
        raise NotImplementedError(f"{type(self).__name__} must define `through`")


def number(value: float) -> Any:
    """A whole number or a half as an exact sympy number, anything else as a Float."""
    import sympy as sp

    twice = 2 * float(value)
    if not math.isfinite(twice):
        return sp.Float(float(value))
    return sp.Rational(int(twice), 2) if twice == int(twice) else sp.Float(float(value))


def linear(weights: Iterable[float], symbols: Sequence[Any]) -> Any:
    """Sum of weight * symbol."""
    import sympy as sp

    return sp.Add(*(number(w) * s for w, s in zip(weights, symbols)))


def magnitude(symbol: Any, epsilon: float) -> Any:
    """|symbol| + epsilon, or |symbol| if epsilon is 0."""
    import sympy as sp

    return sp.Abs(symbol) + sp.Float(epsilon) if epsilon else sp.Abs(symbol)


def as_number(value: Any) -> Any:
    """A truth value as 1 or 0; numbers and plain symbols unchanged."""
    import sympy as sp

    if isinstance(value, sp.logic.boolalg.Boolean) and not isinstance(value, sp.Symbol):
        return sp.Piecewise((1, value), (0, True))
    return value


def as_truth(value: Any) -> Any:
    """A number as the statement that it is above one half; truth values and plain symbols unchanged."""
    import sympy as sp

    return value if isinstance(value, sp.logic.boolalg.Boolean) else value > sp.Rational(1, 2)
