r"""Differential equations from a trajectory: second-order steps through an ODE solver, then elimination.

Heim et al. 2020 (section 4.1) train an NPU followed by a NAU through an ODE solver by first-order steps, with
an L1 penalty for sparsity. The error is a sum of squares of few residuals with few parameters, for which
second-order steps are made, and sparsity can be had by removing parameters one by one:

1. *Start*. Over a smooth curve :math:`\hat x(t)` through the states, the integrals
   :math:`\int_0^t \prod_j \hat x_j^{E_{k,j}}` determine the factors by linear least squares. So only the
   exponents are searched, from several drawn starts, without solving an equation or differentiating data.
2. *Fit*. All parameters, through the solver, from the best starts (`scipy.optimize.least_squares`).
3. *Eliminate*. Of all free parameters the one is fixed, factors at 0 and exponents at a whole number, that
   raises the error least (Hassibi & Stork 1993: :math:`\delta^2 / (H^{-1})_{ii}`), the others are fitted
   again, and so on until nothing is left. Error against number of parameters is the Pareto front.
4. *Grow*. All this with one term, two, and so on, as long as a further term is worth its parameters:
   equations with few terms are found more surely than by elimination from many.
5. *Choose* the equations with the lowest Bayesian information criterion (Schwarz 1978), errors below the
   solver's own counting as equal.

No step sees anything but the given states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import nn

from nalm.discover.dynamics_start import MOST, drawn, lowest_exponents, started
from nalm.discover.power_laws import PowerLaws
from nalm.discover.trajectory import Trajectory
from nalm.errors import ArgumentError, check_positive
from nalm.streams import check_seed

_BEST = 2
"""How many of the starts are fitted through the solver, and how many removals are tried."""
_STEPS, _AGAIN = 30, 8
"""The most second-order steps of a first fit, and of one after a removal."""
_ROUNDING = 1e-16
"""The least mean square, in squared standard deviations, that is told from 0."""
_UNSURE = 4.0
"""Mean squares below this multiple of the solver's own are equal."""
_FINER = 4
"""How many times shorter the solver's steps are in the last fit."""
_LOST = 0.1
"""Elimination ends where this share of the variance is unexplained."""


@dataclass(frozen=True)
class Fitted:
    """Equations on the Pareto front.

    Attributes:
        laws: the equations.
        error: mean square of the residuals, each state in its standard deviations.
        open: which parameters were fitted; the others are 0 or whole exponents.
        solver_error: mean square of the solver's own error.
    """

    laws: PowerLaws
    error: float
    open: PowerLaws
    solver_error: float

    @property
    def free(self) -> int:
        """The number of parameters that were fitted."""
        return int(self.open.vector.sum())

    @property
    def known_error(self) -> float:
        """The error, as far as the solver can tell."""
        return max(self.error, self.solver_error, _ROUNDING)

    @property
    def size(self) -> int:
        """The number of parameters that are not 0."""
        return self.laws.size

    def padded(self, terms: int) -> Fitted:
        """The same equations with more terms, whose factors are 0."""
        return replace(self, laws=self.laws.padded(terms), open=self.open.padded(terms))


@dataclass(frozen=True)
class Dynamics:
    """What `find_dynamics` found.

    Attributes:
        laws: the chosen equations.
        front: equations that no others beat in both number of parameters and error, the largest first.
        names: the names of the states.
    """

    laws: PowerLaws
    front: tuple[Fitted, ...]
    names: tuple[str, ...]

    @property
    def expressions(self) -> list[Any]:
        """The right-hand sides, one sympy expression per state."""
        return self.laws.expressions(self.names)

    @property
    def model(self) -> nn.Sequential:
        """A RealNPU and a NAU that compute the rates of change, in float64."""
        return self.laws.stack()

    def __str__(self) -> str:
        return "\n".join(self.laws.equations(self.names))


def find_dynamics(
    times: Any,
    states: Any,
    *,
    names: Sequence[str] | None = None,
    terms: int = 4,
    starts: int = 8,
    seed: int = 0,
) -> Dynamics:
    """Find differential equations whose rates are sums of products of powers of the states.

    Args:
        times: when the states were observed, increasing, `points`.
        states: amounts, not negative, `points x states`. The first row is taken to be exact.
        names: the names of the states; by default x1, x2, ….
        terms: the most different products of powers.
        starts: the number of drawn starts.
        seed: the seed of the starts.

    Example:
        >>> t = np.linspace(0, 8, 33)
        >>> found = nalm.find_dynamics(t, np.exp(-0.5 * t)[:, None], names=["N"], terms=1)
        >>> print(found)
        dN/dt = -0.5*N
    """
    check_positive("terms", terms)
    check_positive("starts", starts)
    check_seed(seed)
    trajectory = _checked(times, states)
    count = trajectory.states.shape[-1]
    listed = tuple(names) if names is not None else tuple(f"x{k + 1}" for k in range(count))
    if len(listed) != count:
        raise ArgumentError("names", f"{count} names, one per state", f"{len(listed)}")
    found: list[Fitted] = []
    for used in range(1, terms + 1):
        more = _with_terms(trajectory, drawn(count, used, starts, seed))
        before, found = found, [*found, *(each.padded(terms) for each in more)]
        chosen = _chosen(trajectory, found)
        if before and chosen is _chosen(trajectory, before):
            break
    front = tuple(_polished(trajectory, each) for each in _front(found))
    return Dynamics(_polished(trajectory, chosen).laws, front, listed)


def _with_terms(trajectory: Trajectory, exponents: np.ndarray) -> list[Fitted]:
    """Equations by elimination from the best of drawn starts, `starts x terms x states`."""
    begun = sorted((started(trajectory, each) for each in exponents), key=lambda each: each[0])
    everything = np.ones_like(begun[0][1], dtype=bool)
    fitted = [_fit(trajectory, vector, everything, _STEPS) for _, vector in begun[:_BEST]]
    return _eliminate(trajectory, min(fitted, key=trajectory.error))


def _chosen(trajectory: Trajectory, found: Sequence[Fitted]) -> Fitted:
    """The equations with the lowest criterion; the first of equals."""
    rows = trajectory.states[1:].size
    # Below the solver's own error, a lower error is no better explanation.
    floor = _UNSURE * min(found, key=lambda each: each.known_error).solver_error
    return min(found, key=lambda each: _criterion(each, rows, floor))


def _polished(trajectory: Trajectory, fitted: Fitted) -> Fitted:
    """The same equations, fitted once more with shorter steps of the solver."""
    finer, free = replace(trajectory, substeps=_FINER * trajectory.substeps), fitted.open.vector
    return _record(finer, _fit(finer, fitted.laws.vector, free, _AGAIN), free)


def _front(found: Sequence[Fitted]) -> tuple[Fitted, ...]:
    """Equations that no others beat in both size and error, the largest first."""
    front: list[Fitted] = []
    for each in sorted(found, key=lambda each: (each.size, each.error)):
        if not front or each.error < front[-1].error:
            front.append(each)
    return tuple(reversed(front))


def _checked(times: Any, states: Any) -> Trajectory:
    try:
        t, x = np.array(times, dtype=float), np.array(states, dtype=float)
    except (TypeError, ValueError):
        got = f"{type(times).__name__} and {type(states).__name__}"
        raise ArgumentError("times and states", "numbers", got) from None
    if t.ndim != 1 or len(t) < 4 or not (np.diff(t) > 0).all() or not np.isfinite(t).all():
        raise ArgumentError("times", "four or more increasing numbers", f"shape {t.shape}, {times!r:.60}")
    if x.ndim != 2 or len(x) != len(t):
        raise ArgumentError("states", f"of shape {len(t)} x states, a row per time", f"shape {x.shape}")
    if not np.isfinite(x).all():
        raise ArgumentError("states", "finite everywhere", "NaN or infinity")
    return Trajectory(t, x)


def _fit(trajectory: Trajectory, vector: np.ndarray, free: np.ndarray, steps: int) -> np.ndarray:
    """The parameters with the free ones fitted through the solver; the start, if nothing is better."""
    from scipy.optimize import least_squares

    if not free.any():
        return vector

    def whole(part: np.ndarray) -> np.ndarray:
        made = vector.copy()
        made[free] = part
        return made

    lowest, highest = _bounds(trajectory, len(vector))
    end = least_squares(
        lambda part: trajectory.residuals(whole(part)),
        vector[free],
        bounds=(lowest[free], highest[free]),
        jac=lambda part: trajectory.jacobian(whole(part), free),
        x_scale="jac",
        max_nfev=steps,
    )
    return whole(end.x)


def _bounds(trajectory: Trajectory, parameters: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest values of all parameters; factors have none."""
    lowest, highest = np.full(parameters, -np.inf), np.full(parameters, np.inf)
    powers = parameters // 2
    lowest[:powers] = np.tile(lowest_exponents(trajectory), powers // trajectory.states.shape[-1])
    highest[:powers] = MOST
    return lowest, highest


def _eliminate(trajectory: Trajectory, vector: np.ndarray) -> list[Fitted]:
    """The path of elimination, the largest equations first."""
    states = trajectory.states.shape[-1]
    free = np.ones(len(vector), dtype=bool)
    path = [_record(trajectory, vector, free)]
    while path[-1].error < _LOST and free.any():
        tried = []
        for k in _cheapest(trajectory, vector, free)[:_BEST]:
            fewer, start = free.copy(), vector.copy()
            fewer[k], start[k] = False, _rest(vector, k)
            _drop_unused(start, fewer, states)
            tried.append((_fit(trajectory, start, fewer, _AGAIN), fewer))
        vector, free = min(tried, key=lambda each: trajectory.error(each[0]))
        path.append(_record(trajectory, vector, free))
    return path


def _record(trajectory: Trajectory, vector: np.ndarray, free: np.ndarray) -> Fitted:
    laws, open_ = (PowerLaws.of(each, trajectory.states.shape[-1]) for each in (vector, free))
    return Fitted(laws, trajectory.error(vector), open_, trajectory.solver_error(vector))


def _cheapest(trajectory: Trajectory, vector: np.ndarray, free: np.ndarray) -> list[int]:
    """The free parameters in the order of what fixing them would cost."""
    jacobian = trajectory.jacobian(vector, free)
    square = jacobian.T @ jacobian
    ridge = 1e-12 * max(float(np.trace(square)), np.finfo(float).tiny) / len(square)
    inverse = np.linalg.pinv(square + ridge * np.eye(len(square)))
    places = np.flatnonzero(free)
    moves = np.array([vector[k] - _rest(vector, k) for k in places.tolist()])
    cost = moves**2 / np.maximum(np.diag(inverse), np.finfo(float).tiny)
    return [int(places[k]) for k in np.argsort(cost)]


def _rest(vector: np.ndarray, place: int) -> float:
    """Where a parameter is fixed: a factor at 0, an exponent at the nearest whole number."""
    return 0.0 if place >= len(vector) // 2 else float(round(vector[place]))


def _drop_unused(vector: np.ndarray, free: np.ndarray, states: int) -> None:
    """Fix the exponents of terms that no equation uses, in place."""
    laws, open_ = PowerLaws.of(vector, states), PowerLaws.of(free, states)
    unused = ~((laws.factors != 0) | open_.factors).any(0)
    exponents, loose = laws.exponents.copy(), open_.exponents.copy()
    exponents[unused], loose[unused] = 0.0, False
    half = len(vector) // 2
    vector[:half], free[:half] = exponents.ravel(), loose.ravel()


def _criterion(fitted: Fitted, rows: int, floor: float) -> float:
    """The Bayesian information criterion of normal residuals, whose mean square is at least `floor`."""
    return rows * math.log(max(fitted.known_error, floor)) + fitted.free * math.log(rows)
