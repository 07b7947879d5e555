"""The search over sums and products of powers: many starts, exponents made halves, and read as formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from nalm.discover.fit.power_models import Inputs, ProductOfSums, SumOfProducts
from nalm.discover.fit.varpro import fit

_STARTS = 48
_STEPS = 60
_KEPT = 4
"""How many of the best starts of a model are read as formulas."""
_SOLVED = 1e-8
"""Starts with a smaller error are at the formula, but for rounding."""
_HIGHEST = 6.0
_EXPONENTS = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
_POWERS = np.array([-1.0, 0.5, -0.5, -2.0])
_NEAR = 0.08
"""Exponents that are so near to a half are made halves at once; of others the nearest first."""


@dataclass(frozen=True)
class Shape:
    """What a model consists of.

    Attributes:
        terms: for a sum, whether the inner sum is a factor of each term; empty for a product.
        sums: the numbers of terms beside 1 of the inner sums.
    """

    terms: tuple[bool, ...]
    sums: tuple[int, ...]


SMALL = (
    Shape((), (1,)),
    Shape((False,) * 2, ()),
    Shape((), (1, 1)),
    Shape((), (2,)),
    Shape((False,) * 3, ()),
    Shape((True,), (1,)),
    Shape((True, False), (1,)),
    Shape((True, True), (1,)),
)
LARGE = (
    Shape((), (2, 1)),
    Shape((False,) * 4, ()),
    Shape((), (3,)),
    Shape((True, False), (2,)),
    Shape((True, False, False), (1,)),
    Shape((), (1, 1, 1)),
    Shape((), (2, 2)),
    Shape((True, True), (2,)),
    Shape((True, False), (3,)),
)


def power_formulas(
    shape: Shape,
    x: np.ndarray,
    y: np.ndarray,
    symbols: Sequence[sp.Symbol],
    generator: np.random.Generator,
    *,
    noisy: bool = False,
    late: Callable[[], bool] = lambda: False,
) -> Iterator[sp.Expr]:
    """Formulas of a shape, the best first.

    Args:
        shape: what the model consists of.
        x: inputs, `n x in`.
        y: targets, shape `n`.
        symbols: the names of the inputs.
        generator: draws the starts.
        noisy: whether targets have noise, so that exponents cannot be expected to be halves by themselves.
        late: whether time is over.
    """
    inputs = Inputs.of(x)
    if not shape.terms and (y == 0).any():
        return
    starts = _Starts(inputs, generator, _STARTS)
    theta, model = starts.product(shape) if not shape.terms else starts.sum(shape)
    target = y if shape.terms else np.log(np.abs(y))
    weights = np.abs(y) if noisy and not shape.terms else None
    found = fit(model, target, theta, _STEPS, weights=weights, late=late)
    best = _best(found.error, model)
    if not len(best):
        return
    solved = found.error[best[0]] < _SOLVED
    chosen, model = found.theta[best[:1] if solved else best], _of_starts(model, best[:1] if solved else best)
    if not solved:
        if not noisy and found.error[best[0]] > 0.2:
            return
        chosen = _halved(model, target, chosen, weights, late)
    made = fit(
        model, target, _rounded(model, chosen), 8, free=_coefficients(model, len(chosen)), weights=weights
    )
    for k in np.argsort(made.error, kind="stable"):
        read = _product if not shape.terms else _sum
        expression = read(model, made.theta[k], made.beta[k], symbols, y, k)
        if expression is not None:
            yield expression


def _best(error: np.ndarray, model: Any) -> np.ndarray:
    """The best starts, and the best of every power of an inner sum."""
    order = np.argsort(error, kind="stable")
    order = order[np.isfinite(error[order])]
    chosen = list(order[:_KEPT])
    if isinstance(model, SumOfProducts) and model.inner:
        _, first = np.unique(model.power[order], return_index=True)
        chosen = list(order[np.sort(first)])
    return np.array(chosen, dtype=int)


class _Starts:
    """Draws starts: each term has the powers of about two inputs."""

    def __init__(self, inputs: Inputs, generator: np.random.Generator, count: int) -> None:
        self.inputs, self.generator, self.count = inputs, generator, count

    def product(self, shape: Shape) -> tuple[np.ndarray, ProductOfSums]:
        terms = sum(shape.sums)
        theta = np.concatenate([self._coefficients(terms)[..., None], self._exponents(terms)], -1)
        return theta.reshape(self.count, -1), ProductOfSums(self.inputs, shape.sums, self._odd(terms))

    def sum(self, shape: Shape) -> tuple[np.ndarray, SumOfProducts]:
        inner = sum(shape.sums)
        parts = [self._exponents(len(shape.terms)).reshape(self.count, -1)]
        if inner:
            block = np.concatenate([self._coefficients(inner)[..., None], self._exponents(inner)], -1)
            parts.append(block.reshape(self.count, -1))
        power = np.resize(_POWERS, self.count)
        odd = self._odd(len(shape.terms) + inner)
        return np.concatenate(parts, -1), SumOfProducts(self.inputs, shape.terms, inner, power, odd)

    def _exponents(self, terms: int) -> np.ndarray:
        shape = (self.count, terms, self.inputs.logs.shape[1])
        used = self.generator.random(shape) < min(1.0, 2.0 / shape[-1])
        return self.generator.choice(_EXPONENTS, shape) * used

    def _coefficients(self, terms: int) -> np.ndarray:
        sizes = np.exp(self.generator.normal(-1.0, 1.0, (self.count, terms)))
        return self.generator.choice([-1.0, 1.0], (self.count, terms)) * sizes

    def _odd(self, terms: int) -> np.ndarray:
        shape = (self.count, terms, self.inputs.logs.shape[1])
        return (self.generator.random(shape) < 0.5) & self.inputs.flipping


def _of_starts(model: Any, chosen: np.ndarray) -> Any:
    """The model of some of the starts."""
    changed = {"odd": model.odd[chosen]}
    if isinstance(model, SumOfProducts):
        changed["power"] = model.power[chosen]
    return replace(model, **changed)


def _coefficients(model: Any, starts: int) -> np.ndarray:
    """Which parameters are coefficients, for so many starts."""
    return np.broadcast_to(~model.is_exponent(), (starts, len(model.is_exponent())))


def _rounded(model: Any, theta: np.ndarray) -> np.ndarray:
    """Theta with its exponents made halves."""
    return np.where(model.is_exponent(), np.clip(np.round(2 * theta) / 2, -_HIGHEST, _HIGHEST), theta)


def _halved(
    model: Any, target: np.ndarray, theta: np.ndarray, weights: np.ndarray | None, late: Callable[[], bool]
) -> np.ndarray:
    """Exponents made halves one after the other, those next to a half first; the others are fitted again."""
    free = np.ones(theta.shape, dtype=bool)
    exponent = np.broadcast_to(model.is_exponent(), theta.shape)
    while (free & exponent).any() and not late():
        away = np.where(free & exponent, np.abs(theta - _rounded(model, theta)), np.inf)
        nearest = away <= np.maximum(away.min(1, keepdims=True), _NEAR)
        fixed = nearest & free & exponent & np.isfinite(away)
        theta, free = np.where(fixed, _rounded(model, theta), theta), free & ~fixed
        theta = fit(model, target, theta, 6, free=free, weights=weights).theta
    return theta


def _monomial(exponents: np.ndarray, symbols: Sequence[sp.Symbol]) -> sp.Expr:
    return sp.Mul(*(symbol ** sp.Rational(round(2 * e), 2) for symbol, e in zip(symbols, exponents) if e))


def _scale(exponents: np.ndarray, inputs: Inputs) -> float:
    """What the coefficient of a monomial of shifted logarithms is multiplied with for one of the inputs."""
    return float(np.exp(-exponents @ inputs.means))


def _inner(
    coefficients: np.ndarray, exponents: np.ndarray, inputs: Inputs, symbols: Sequence[sp.Symbol]
) -> sp.Expr:
    terms = [
        sp.Float(c * _scale(e, inputs), 15) * _monomial(e, symbols)
        for c, e in zip(coefficients, exponents)
        if c and np.isfinite(c * _scale(e, inputs))
    ]
    return sp.Add(1, *terms)


def _product(
    model: ProductOfSums,
    theta: np.ndarray,
    beta: np.ndarray,
    symbols: Sequence[sp.Symbol],
    y: np.ndarray,
    start: int,
) -> sp.Expr | None:
    """A product of powers as a formula, with the sign that fits."""
    if not np.isfinite(beta).all():
        return None
    inputs = model.inputs
    count = inputs.logs.shape[1]
    powers = np.clip(np.round(2 * beta[1:]) / 2, -_HIGHEST, _HIGHEST)
    coefficients, exponents = (part[0] for part in model.parts(theta[None]))
    cuts = np.cumsum((0, *model.sums))
    sums = [
        _inner(coefficients[a:b], exponents[a:b], inputs, symbols) ** sp.Rational(round(2 * q), 2)
        for a, b, q in zip(cuts, cuts[1:], powers[count:])
        if q
    ]
    size = float(np.exp(np.clip(beta[0] - powers[:count] @ inputs.means, -600, 600)))
    sign = -1.0 if np.median(y) < 0 else 1.0
    return sp.Float(sign * size, 15) * _monomial(powers[:count], symbols) * sp.Mul(*sums)


def _sum(
    model: SumOfProducts,
    theta: np.ndarray,
    beta: np.ndarray,
    symbols: Sequence[sp.Symbol],
    y: np.ndarray,
    start: int,
) -> sp.Expr | None:
    """A sum of products as a formula; terms that do not count are left out."""
    if not np.isfinite(beta).all():
        return None
    inputs = model.inputs
    terms, coefficients, exponents = (part[0] for part in model.parts(theta[None]))
    factor = sp.Integer(1)
    if model.inner:
        power = sp.Rational(round(2 * float(model.power[start])), 2)
        factor = _inner(coefficients, exponents, inputs, symbols) ** power
    made = [
        sp.Float(c * _scale(e, inputs), 15) * _monomial(e, symbols) * (factor if inside else 1)
        for c, e, inside in zip(beta, terms, model.outer)
        if c and np.isfinite(c * _scale(e, inputs))
    ]
    return sp.Add(*made, sp.Float(beta[-1], 15)) if made else None
