"""Observed states over time, and how well equations explain them when they are integrated from the first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.power_laws import PowerLaws

_STEP = 1e-6
"""The relative step of central differences."""
_LARGE = 1e6
"""A state this many times larger than all observed ones has diverged; it counts with this size."""


@dataclass(frozen=True)
class Trajectory:
    """States at times, of which the first is where equations start from.

    Attributes:
        times: increasing, `points`.
        states: `points x states`, not negative.
        substeps: steps of the classical Runge-Kutta method between two times.
    """

    times: np.ndarray
    states: np.ndarray
    substeps: int = 2

    @property
    def scale(self) -> np.ndarray:
        """The standard deviation of each state over time; 1 for one that never changes."""
        spread = self.states.std(0)
        return np.where(spread > 0, spread, 1.0)

    def follow(self, laws: PowerLaws) -> np.ndarray:
        """The states that equations, or a batch of them, give at the times: `... x points x states`."""
        state = np.broadcast_to(self.states[0], (*laws.exponents.shape[:-2], self.states.shape[-1]))
        most, found = _LARGE * np.abs(self.states).max(), [state]
        with np.errstate(all="ignore"):
            for length in np.diff(self.times):
                for _ in range(self.substeps):
                    state = _runge_kutta(laws, state, length / self.substeps)
                # Equations that diverge must not stop others, and must look worse than all.
                state = np.where(np.abs(state) < most, state, most)
                found.append(state)
        return np.stack(found, -2)

    def residuals(self, vectors: np.ndarray) -> np.ndarray:
        """Differences from the states after the first, in standard deviations: `... x residuals`."""
        followed = self.follow(PowerLaws.of(vectors, self.states.shape[-1]))
        off = (followed - self.states)[..., 1:, :] / self.scale
        return off.reshape(*off.shape[:-2], -1)

    def jacobian(self, vector: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Derivatives of the residuals by the free parameters, `residuals x free`, all side by side."""
        steps = _STEP * np.maximum(1e-2, np.abs(vector[free]))
        moves = np.zeros((len(steps), len(vector)))
        moves[:, free] = np.diag(steps)
        ahead, behind = self.residuals(np.concatenate([vector + moves, vector - moves])).reshape(
            2, len(steps), -1
        )
        derivatives: np.ndarray = ((ahead - behind) / (2 * steps[:, None])).T
        return derivatives

    def error(self, vector: np.ndarray) -> float:
        """The mean square of the residuals."""
        return float(np.mean(self.residuals(vector) ** 2))

    def solver_error(self, vector: np.ndarray) -> float:
        """The mean square by which residuals change if the solver takes twice as many steps."""
        finer = replace(self, substeps=2 * self.substeps)
        return float(np.mean((finer.residuals(vector) - self.residuals(vector)) ** 2))


def _runge_kutta(laws: PowerLaws, state: np.ndarray, step: float) -> np.ndarray:
    first = laws.rates(state)
    second = laws.rates(state + 0.5 * step * first)
    third = laws.rates(state + 0.5 * step * second)
    fourth = laws.rates(state + step * third)
    moved: np.ndarray = state + step / 6 * (first + 2 * second + 2 * third + fourth)
    return moved
