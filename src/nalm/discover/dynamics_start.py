r"""Starts of `nalm.find_dynamics`: exponents whose integrals over a smooth curve explain the states.

.. math:: x_i(t) - x_i(0) \approx \sum_k F_{i,k} \int_0^t \prod_j \hat x_j(s)^{E_{k,j}} ds

The factors F follow by linear least squares, so that only the exponents E are searched, nothing can diverge,
and no data are differentiated.
"""

from __future__ import annotations

import numpy as np
import torch

from nalm.discover.power_laws import PowerLaws
from nalm.discover.trajectory import Trajectory
from nalm.streams import Purpose, counters, key, uniform

_SPREAD = 1.0
"""Exponents of drawn starts are from U(-_SPREAD / 2, 3 _SPREAD / 2), around what amounts usually have."""
_FINE = 8
"""Points of the smooth curve per interval."""
MOST = 4.0
"""The largest magnitude of an exponent."""
_VANISHES = 1e-3
"""A state below this share of its largest value vanishes there: no rate can have a negative power of it."""


def drawn(states: int, terms: int, starts: int, seed: int) -> np.ndarray:
    """Exponents of the starts, `starts x terms x states`."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.INIT, 0)
    u = uniform(stream, counters(starts, terms, states), torch.float64)[0]
    return _SPREAD * (2 * u.numpy() - 0.5)


def started(trajectory: Trajectory, exponents: np.ndarray) -> tuple[float, np.ndarray]:
    """Exponents that explain the states by integrals over a smooth curve: the error, and all parameters."""
    from scipy.optimize import least_squares

    curve, grid = _smooth(trajectory)
    gained = (trajectory.states - trajectory.states[0])[1:] / trajectory.scale

    def factors(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        laws = PowerLaws(vector.reshape(exponents.shape), np.zeros(exponents.shape[::-1]))
        integrals = _integrals(laws.terms(curve), grid)
        size = np.maximum(np.abs(integrals).max(0), np.finfo(float).tiny)
        found = np.linalg.lstsq(integrals / size, gained, rcond=1e-10)[0]
        return (found / size[:, None]).T * trajectory.scale[:, None], integrals / size @ found - gained

    lowest = np.broadcast_to(lowest_exponents(trajectory), exponents.shape).ravel()
    end = least_squares(
        lambda vector: factors(vector)[1].ravel(),
        np.clip(exponents.ravel(), lowest, MOST),
        bounds=(lowest, MOST),
        max_nfev=30,
    )
    laws = PowerLaws(end.x.reshape(exponents.shape), factors(end.x)[0])
    return float(end.cost), laws.vector


def lowest_exponents(trajectory: Trajectory) -> np.ndarray:
    """The lowest exponent of each state: 0 for one that vanishes."""
    least, largest = trajectory.states.min(0), trajectory.states.max(0)
    return np.where(least < _VANISHES * largest, 0.0, -MOST)


def _smooth(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """A smooth curve through the states, not negative, and the times of its points."""
    from scipy.interpolate import make_smoothing_spline

    points = len(trajectory.times)
    grid = np.interp(np.arange((points - 1) * _FINE + 1) / _FINE, np.arange(points), trajectory.times)
    if points < 5:  # the spline needs five
        columns = [np.interp(grid, trajectory.times, column) for column in trajectory.states.T]
    else:
        columns = [make_smoothing_spline(trajectory.times, column)(grid) for column in trajectory.states.T]
    return np.maximum(np.stack(columns, -1), 0.0), grid


def _integrals(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Integrals from the first time to each later one, by the trapezoid rule: `points - 1 x terms`."""
    pieces = 0.5 * (values[1:] + values[:-1]) * np.diff(grid)[:, None]
    found: np.ndarray = np.cumsum(pieces, 0)[_FINE - 1 :: _FINE]
    return found
