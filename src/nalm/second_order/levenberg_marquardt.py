r"""Levenberg-Marquardt for many members at once, each with its own damping and end.

Every step solves :math:`(D^{-1} J^T J D^{-1} + \lambda I) D \delta = -D^{-1} J^T r` with
:math:`D^2 = \mathrm{diag}(J^T J)`, for several :math:`\lambda` around the last one that worked, each also
with the second-order correction along the path (geodesic acceleration, Transtrum & Sethna 2012), and takes
the step that lowers the error most. The correction makes it follow the long curved valleys of products of
sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.second_order.flat import Flat
from nalm.second_order.measures import residuals, slopes

DAMPINGS = (1e-2, 1e-1, 1.0, 1e1, 1e3)
"""Factors tried in every step, times the damping that worked last."""
_LEAST, _MOST = 1e-15, 1e10
_STRIDE = 0.1
"""The fraction of a step that is used for the second difference along it."""
ROUNDING = 1e-26
"""A mean square below this, relative to that of the targets, is rounding: it cannot be lowered further."""
_PATIENCE, _PROGRESS = 12, 0.01
"""A member ends when this many steps have not lowered its mean square by this fraction."""


@dataclass(frozen=True)
class Path:
    """The path of a minimisation.

    Attributes:
        vectors: the parameters after each step, `steps + 1` tensors `members x parameters`.
        steps: the number of steps of each member, shape `members`.
    """

    vectors: list[Tensor]
    steps: Tensor

    @property
    def end(self) -> Tensor:
        """The parameters at the end, `members x parameters`."""
        return self.vectors[-1]


def minimise(
    flat: Flat, start: Tensor, x: Tensor, y: Tensor, logarithmic: Tensor, free: Tensor, steps: int
) -> Path:
    """Lower the mean squares of all members until none can be lowered further or one member is exact.

    Args:
        flat: the architecture.
        start: parameters, `members x parameters`.
        x: inputs, `n x in`.
        y: targets, `n x out`.
        logarithmic: which members use the logarithmic measure, shape `members`, bool.
        free: which parameters may change, `members x parameters`, bool.
        steps: the maximum number of steps.
    """
    used = free.any(0)
    now, path = start.clone(), [start.clone()]
    taken = torch.zeros(len(start), dtype=torch.long)
    damping = torch.full((len(start),), 1e-2, dtype=start.dtype)
    scale = torch.where(logarithmic, 1.0, y.square().mean()).clamp_min(_LEAST**10)
    errors: list[Tensor] = []
    active = torch.arange(len(start))
    begun = residuals(flat.predict(start, x), y, logarithmic).square().mean((1, 2))
    if ((begun <= ROUNDING * scale) & ~logarithmic).any():
        return Path(path, taken)
    for _ in range(steps):
        problem = _Problem(flat, x, y, logarithmic[active], free[active], used)
        moved, error, worked = _step(problem, now[active], damping[active])
        now[active] = moved
        damping[active] = worked.clamp(_LEAST, _MOST)
        taken[active] += 1
        path.append(now.clone())
        latest = errors[-1].clone() if errors else torch.full_like(scale, math.inf)
        latest[active] = error
        errors.append(latest)
        ended = (error <= ROUNDING * scale[active]) | (worked >= _MOST) | ~error.isfinite()
        if len(errors) > _PATIENCE:
            ended |= error > (1 - _PROGRESS) * errors[-1 - _PATIENCE][active]
        solved = (error <= ROUNDING * scale[active]) & ~logarithmic[active]
        active = active[~ended]
        if not len(active) or solved.any():  # one exact member is enough
            break
    return Path(path, taken)


class _Problem:
    """The least-squares problem of the members that have not ended."""

    def __init__(
        self, flat: Flat, x: Tensor, y: Tensor, logarithmic: Tensor, free: Tensor, used: Tensor
    ) -> None:
        self.flat, self.x, self.y, self.logarithmic = flat, x, y, logarithmic
        self.used, self.free = used, free[:, used].to(x.dtype)

    def residuals(self, vectors: Tensor) -> Tensor:
        return residuals(self.flat.predict(vectors, self.x), self.y, self.logarithmic)

    def error(self, vectors: Tensor) -> Tensor:
        """Mean squares, infinite where they are not finite; shape `members`."""
        found = self.residuals(vectors).square().mean((1, 2))
        return torch.where(found.isfinite(), found, math.inf)

    def normal_equations(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """J^T J and J^T r over the parameters in use, summed piece by piece."""
        size = int(self.used.sum())
        square = vectors.new_zeros(len(vectors), size, size)
        gradient = vectors.new_zeros(len(vectors), size)
        for rows in self.flat.pieces(len(vectors), len(self.x), self.y.shape[-1]):
            predictions, derivatives = self.flat.jacobian(vectors, self.x[rows])
            slope = slopes(predictions, self.y[rows], self.logarithmic)
            jacobian = (derivatives[..., self.used] * slope[..., None]).flatten(1, 2)
            jacobian = torch.nan_to_num(jacobian, 0.0, 0.0, 0.0) * self.free[:, None]
            off = residuals(predictions, self.y[rows], self.logarithmic).flatten(1)
            square += jacobian.mT @ jacobian
            gradient += (jacobian.mT @ torch.nan_to_num(off)[..., None])[..., 0]
        return square, gradient

    def transposed(self, vectors: Tensor, weights: Tensor) -> Tensor:
        """J^T weights, by one backward pass: weights `members x n x out`."""
        with torch.enable_grad():
            held = vectors.detach().requires_grad_()
            predictions = self.flat.predict(held, self.x)
            slope = slopes(predictions.detach(), self.y, self.logarithmic)
            (gradient,) = torch.autograd.grad((predictions * slope * weights).sum(), held)
        return torch.nan_to_num(gradient[:, self.used], 0.0, 0.0, 0.0) * self.free

    def moved(self, vectors: Tensor, step: Tensor) -> Tensor:
        after = vectors.clone()
        after[:, self.used] += step * self.free
        return after


def _step(problem: _Problem, vectors: Tensor, damping: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The parameters after one step, their error, and the best damping, which grows if no step helped."""
    square, gradient = problem.normal_equations(vectors)
    scale = square.diagonal(dim1=1, dim2=2)
    floor = 1e-12 * scale.amax(1, keepdim=True)
    scale = torch.maximum(scale, floor).clamp_min(_LEAST**10).sqrt()
    square = square / (scale[:, :, None] * scale[:, None, :])
    here = problem.residuals(vectors)
    best = torch.where(here.isfinite().all(2).all(1), here.square().mean((1, 2)), math.inf)
    after, worked = vectors, damping * 100

    def offer(candidate: Tensor, at: Tensor, usable: Tensor) -> None:
        nonlocal best, after, worked
        error = problem.error(candidate)
        better = (error < best) & usable
        best = torch.where(better, error, best)
        after = torch.where(better[:, None], candidate, after)
        worked = torch.where(better, at, worked)

    for factor in DAMPINGS:
        at = (damping * factor).clamp_min(_LEAST)
        ridge = torch.diag_embed(at[:, None].expand_as(scale))
        triangle, failed = torch.linalg.cholesky_ex(square + ridge)

        def solve(right: Tensor, triangle: Tensor = triangle) -> Tensor:
            return torch.cholesky_solve((right / scale)[..., None], triangle)[..., 0] / scale

        step = -solve(gradient)
        offer(problem.moved(vectors, step), at, failed == 0)
        # The second derivative of the residuals along the step, by differences.
        ahead = problem.residuals(problem.moved(vectors, _STRIDE * step))
        behind = problem.residuals(problem.moved(vectors, -_STRIDE * step))
        bend = torch.nan_to_num((ahead - 2 * here + behind) / _STRIDE**2, 0.0, 0.0, 0.0)
        correction = -0.5 * solve(problem.transposed(vectors, bend))
        offer(problem.moved(vectors, step + correction), at, failed == 0)
    return after, best, worked
