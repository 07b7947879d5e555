"""Variable projection: many fits at once of models that are linear in some of their parameters.

A model is target = Phi(theta) beta. For every theta the best beta is a linear problem, so that only theta is
searched, by Levenberg-Marquardt steps on what the best beta leaves (Golub & Pereyra 1973, with Kaufman's
simpler Jacobian, 1975). All starts take their steps side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_FIRST_DAMPING, _LESS, _MORE = 1e-2, 0.3, 5.0
_MOST_DAMPING = 1e8
_RIDGE = 1e-13
"""Relative size of what keeps nearly dependent columns of Phi solvable."""
SOLVED = 1e-11
"""A root mean squared residual below this share of the target's deviation: nothing is left to fit."""


class Separable(Protocol):
    """A model target = Phi(theta) beta of `starts` side by side."""

    def basis(self, theta: np.ndarray) -> np.ndarray:
        """Phi, `starts x n x terms`, of theta, `starts x parameters`."""

    def slopes(self, theta: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The derivatives of Phi(theta) beta by theta, `starts x n x parameters`."""


@dataclass(frozen=True)
class Fits:
    """Where each start has ended.

    Attributes:
        theta: `starts x parameters`.
        beta: `starts x terms`.
        error: root mean squared residual, as a share of the target's deviation, shape `starts`.
    """

    theta: np.ndarray
    beta: np.ndarray
    error: np.ndarray


def fit(
    model: Separable,
    target: np.ndarray,
    theta: np.ndarray,
    steps: int = 60,
    *,
    free: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    late: Callable[[], bool] = lambda: False,
) -> Fits:
    """Fit all starts; stops early if one is solved or time is over.

    Args:
        model: the model.
        target: shape `n`.
        theta: the starts, `starts x parameters`.
        steps: the most steps.
        free: which parameters may change, of the shape of theta; all by default.
        weights: of the residuals of rows, shape `n`; 1 by default.
        late: whether time is over.
    """
    spread = target.std() or float(np.abs(target).mean()) or 1.0
    weight = np.ones(len(target)) if weights is None else weights / np.sqrt(np.mean(weights**2))
    free = np.ones(theta.shape, dtype=bool) if free is None else free
    scaled = target / spread * weight
    with np.errstate(all="ignore"):
        orthonormal, beta, left = _project(model.basis(theta) * weight[:, None], scaled)
        loss = _mean_square(left)
        damping = np.full(len(theta), _FIRST_DAMPING)
        for _ in range(steps):
            if late() or np.nanmin(loss, initial=np.inf) < SOLVED**2:
                break
            slopes = model.slopes(theta, beta) * weight[:, None] * free[:, None]
            tried = theta + _step(slopes, orthonormal, left, damping)
            new_q, new_beta, new_left = _project(model.basis(tried) * weight[:, None], scaled)
            new_loss = _mean_square(new_left)
            better = new_loss < loss
            theta = np.where(better[:, None], tried, theta)
            beta = np.where(better[:, None], new_beta, beta)
            left = np.where(better[:, None], new_left, left)
            orthonormal = np.where(better[:, None, None], new_q, orthonormal)
            loss = np.where(better, new_loss, loss)
            damping = np.clip(np.where(better, damping * _LESS, damping * _MORE), 1e-12, _MOST_DAMPING)
            if (damping >= _MOST_DAMPING).all():
                break
    return Fits(theta, beta * spread, np.sqrt(loss))


def _project(basis: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An orthonormal basis of Phi, the best beta, and what it leaves; infinite where Phi is not finite."""
    size = np.sqrt((basis**2).sum(1, keepdims=True))
    good = np.isfinite(size).all((1, 2)) & (size > 0).all((1, 2))
    safe = np.where(good[:, None, None], basis / np.where(size > 0, size, 1.0), 0.0)
    safe[~good] = np.eye(basis.shape[1], basis.shape[2])
    q, r = np.linalg.qr(safe)
    diagonal = np.einsum("bii->bi", r)
    diagonal += np.where(np.abs(diagonal) < _RIDGE, _RIDGE, 0.0)
    inside = np.einsum("bnp,n->bp", q, target)
    beta = np.linalg.solve(r, inside[..., None])[..., 0] / size[:, 0]
    left = target - np.einsum("bnp,bp->bn", q, inside)
    left[~good] = np.inf
    return q, beta, left


def _step(slopes: np.ndarray, orthonormal: np.ndarray, left: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The damped step of every start; zero where it cannot be computed."""
    slopes = slopes - orthonormal @ (orthonormal.transpose(0, 2, 1) @ slopes)
    normal = slopes.transpose(0, 2, 1) @ slopes
    pull = np.einsum("bnm,bn->bm", slopes, np.where(np.isfinite(left), left, 0.0))
    diagonal = np.einsum("bii->bi", normal)
    diagonal *= 1 + damping[:, None]
    diagonal += 1e-12 * diagonal.max(1, keepdims=True) + 1e-200
    good = np.isfinite(normal).all((1, 2)) & np.isfinite(pull).all(1)
    normal[~good] = np.eye(slopes.shape[2])
    try:
        move = np.linalg.solve(normal, pull[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.zeros_like(pull)
    return np.where(good[:, None] & np.isfinite(move), np.clip(move, -2.0, 2.0), 0.0)


def _mean_square(left: np.ndarray) -> np.ndarray:
    loss = (left**2).mean(1)
    return np.where(np.isfinite(loss), loss, np.inf)
