"""Which columns matter: a Gaussian process with a length scale per column.

The covariance of two rows is exp(-1/2 sum_k w_k (x_ik - x_jk)^2) plus noise. The weights w that make the
targets most probable are near zero for columns that do not matter (automatic relevance determination;
Rasmussen & Williams 2006, 5.1, eq. 5.9 for the gradient). A column matters as much as the smooth surface that
results rises along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize

_MOST_ROWS = 250
"""A process of more rows takes longer and says little more about relevance."""
_MOST_STEPS = 50
_LEAST_NOISE = 1e-10
"""Share of the variance that is always noise, so that the covariance stays positive definite."""
_WIDTHS = (0.3, 1.0, 3.0, 20.0)
"""Weights to start from, shared by all columns; later ones if nothing but noise was found."""
_STUCK = 0.3
_WILD = 6.0
"""Residuals are cut off at so many times their median size."""
_CONSTANT, _NEARLY_ALL = 0.15, 0.9
"""Slopes in logarithms are those of a power if they are within this of it, in this share of the rows."""
_SMOOTH = 0.05
"""A surface that leaves less than this share of the deviation is good enough not to look for another."""


@dataclass(frozen=True)
class Relevance:
    """How much each column matters.

    Attributes:
        order: the columns, the most relevant first.
        rise: how much the target rises along each column, as a share of the steepest.
        noise: the standard deviation of the noise, as a share of the target's.
        exponents: of the columns that are factors of the target as powers: their exponents; else nan.
    """

    order: tuple[int, ...]
    rise: np.ndarray
    noise: float
    exponents: np.ndarray

    def columns(self, least: float) -> tuple[int, ...]:
        """The columns along which the target rises by more than a share of the steepest."""
        return tuple(k for k in self.order if self.rise[k] > least)


def relevance(x: np.ndarray, y: np.ndarray) -> Relevance:
    """The relevance of the columns of x, `n x in`, for y, shape `n`.

    The target may be smooth only in logarithms, or only as its square: the smoothest surface counts.
    """
    rows = np.linspace(0, len(x) - 1, min(len(x), _MOST_ROWS)).astype(int)
    x, y = x[rows], y[rows]
    positive = (x > 0).all(0)
    logs = np.where(positive, np.log(np.where(positive, x, 1.0)), x)
    views = [(logs, np.log(np.abs(y)), positive)] if (y > 0).all() or (y < 0).all() else []
    none = np.zeros_like(positive)
    views += [(x, y, none), (x, y * np.abs(y), none)]
    best: Relevance | None = None
    for inputs, target, logarithmic in views:
        found = _surface(inputs, target, logarithmic)
        if best is None or found.noise < best.noise:
            best = found
        if best.noise < _SMOOTH:
            break
    assert best is not None
    return best


def _surface(x: np.ndarray, y: np.ndarray, logarithmic: Any) -> Relevance:
    """The relevance of columns for one target; in logarithms, constant slopes are exponents."""
    scaled, target = _standardised(x), _standardised(y)
    found = _likeliest(scaled, target, _WIDTHS)
    slopes = _slopes(found.x, scaled, target)
    rise = np.sqrt((slopes**2).mean(0))
    order = tuple(int(k) for k in np.argsort(-rise, kind="stable"))
    noise = float(np.exp(found.x[-1] / 2))
    raised = slopes * y.std() / np.maximum(x.std(0), 1e-300)
    exponents = np.round(2 * raised.mean(0)) / 2
    constant = (np.abs(raised - exponents) < _CONSTANT).mean(0) > _NEARLY_ALL
    kept = logarithmic & constant & (exponents != 0)
    return Relevance(
        order, rise / max(rise.max(initial=0.0), 1e-300), noise, np.where(kept, exponents, np.nan)
    )


def is_noise(x: np.ndarray, left: np.ndarray) -> bool:
    """Whether residuals, shape `n`, look like noise: no smooth surface over the inputs makes them likelier.

    The surface's length scales are paid for as in Schwarz's criterion (1978).
    """
    rows = np.linspace(0, len(x) - 1, min(len(x), _MOST_ROWS)).astype(int)
    x, left = x[rows], left[rows] - np.median(left[rows])
    # A few wild residuals would hide how the others depend on the inputs.
    bound = _WILD * float(np.median(np.abs(left)))
    left = np.clip(left, -bound, bound)
    if not x.shape[1] or left.std() == 0:
        return True
    target, price = _standardised(left), 0.5 * np.log(len(rows)) * (1 + x.shape[1])
    views = [x] if not (x > 0).any() else [np.where((x > 0).all(0), np.log(np.abs(x) + (x == 0)), x), x]
    gains = (0.5 * len(rows) - _likeliest(_standardised(view), target, _WIDTHS[:3]).fun for view in views)
    return all(gain < price for gain in gains)


def _standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(0)) / np.maximum(values.std(0), 1e-300)


def _likeliest(x: np.ndarray, y: np.ndarray, widths: tuple[float, ...]) -> optimize.OptimizeResult:
    """The parameters that make standardised targets most probable."""
    inputs = x.shape[1]
    bounds = [(-20.0, 4.0)] * inputs + [(-5.0, 12.0), (np.log(_LEAST_NOISE), 1.0)]
    found = None
    for width in widths:
        start = np.concatenate([np.full(inputs, np.log(width / inputs)), [0.0, np.log(1e-3)]])
        options = {"maxiter": _MOST_STEPS}
        tried = optimize.minimize(
            _loss, start, (x, y), jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        if found is None or tried.fun < found.fun:
            found = tried
        if np.exp(found.x[-1] / 2) < _STUCK:
            break
    return found


def _covariance(theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, float]:
    """The covariance without noise, and the variance of the noise."""
    weighted = x * np.sqrt(np.exp(theta[:-2]))
    norms = (weighted**2).sum(1)
    distance = np.maximum(norms[:, None] + norms - 2 * weighted @ weighted.T, 0.0)
    size = np.exp(theta[-2])
    return size * np.exp(-0.5 * distance), float(np.exp(theta[-1]) + _LEAST_NOISE * size)


def _slopes(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The slopes of the surface along the columns, `n x in`."""
    kernel, noise = _covariance(theta, x)
    alpha = linalg.solve(kernel + noise * np.eye(len(x)), y, assume_a="pos")
    pulled = kernel * alpha
    return np.exp(theta[:-2]) * (pulled @ x - pulled.sum(1, keepdims=True) * x)


def _loss(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The negative log likelihood of the targets, and its gradient by the logarithms of all parameters."""
    kernel, noise = _covariance(theta, x)
    try:
        factor = linalg.cho_factor(kernel + noise * np.eye(len(x)), lower=True)
    except linalg.LinAlgError:
        return 1e10, np.zeros_like(theta)
    inverse = linalg.cho_solve(factor, np.eye(len(x)))
    alpha = inverse @ y
    loss = 0.5 * y @ alpha + np.log(np.diag(factor[0])).sum()
    gap = np.outer(alpha, alpha) - inverse
    pull = gap * kernel
    # sum_ij pull_ij (x_ik - x_jk)^2, for every column k at once
    spread = 2 * (pull.sum(1) @ x**2) - 2 * np.einsum("ik,ik->k", x, pull @ x)
    by_weights = 0.25 * np.exp(theta[:-2]) * spread
    gradient = np.concatenate([by_weights, [-0.5 * pull.sum()], [-0.5 * np.exp(theta[-1]) * np.trace(gap)]])
    return float(loss), gradient
