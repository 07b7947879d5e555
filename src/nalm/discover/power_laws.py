r"""Rates that are sums of products of powers, which a RealNPU followed by a NAU computes.

.. math:: \frac{dx_i}{dt} = \sum_k F_{i,k} \prod_j (|x_j| + \epsilon)^{E_{k,j}}

The exponents E are the weights of the RealNPU, whose relevance gates are 1, and the factors F those of the
NAU (Heim et al. 2020, section 4.1). Epsilon is the RealNPU's.

Deviations: states are taken to be amounts, which are not negative: the RealNPU's cosine, which restores the
sign of a product, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from nalm.units import NAU, RealNPU
from nalm.units.real_npu import EPSILON

_SHOWN = 4
"""Digits of a number in an equation."""


@dataclass(frozen=True)
class PowerLaws:
    """Equations, or a batch of them along leading axes.

    Attributes:
        exponents: `... x terms x states`.
        factors: `... x states x terms`.
    """

    exponents: np.ndarray
    factors: np.ndarray

    @classmethod
    def of(cls, vector: np.ndarray, states: int) -> PowerLaws:
        """From vectors `... x parameters`: the exponents first, then the factors."""
        terms = vector.shape[-1] // (2 * states)
        exponents, factors = np.split(vector, [terms * states], axis=-1)
        lead = vector.shape[:-1]
        return cls(exponents.reshape(*lead, terms, states), factors.reshape(*lead, states, terms))

    @property
    def vector(self) -> np.ndarray:
        """All parameters in one vector, `... x parameters`."""
        lead = self.exponents.shape[:-2]
        return np.concatenate([self.exponents.reshape(*lead, -1), self.factors.reshape(*lead, -1)], -1)

    @property
    def size(self) -> int:
        """The number of parameters that are not 0, of terms that are used."""
        used = (self.factors != 0).any(0)
        return int((self.factors != 0).sum() + (self.exponents[used] != 0).sum())

    def padded(self, terms: int) -> PowerLaws:
        """The same equations with more terms, whose factors are 0."""
        more = terms - self.exponents.shape[0]
        exponents = np.pad(self.exponents, ((0, more), (0, 0)))
        return PowerLaws(exponents, np.pad(self.factors, ((0, 0), (0, more))))

    def terms(self, states: np.ndarray) -> np.ndarray:
        """The products of powers, `... x terms`, of states `... x states`."""
        logs = np.log(np.abs(states) + EPSILON)
        found: np.ndarray = np.exp((self.exponents @ logs[..., None])[..., 0])
        return found

    def rates(self, states: np.ndarray) -> np.ndarray:
        """The rates of change, `... x states`."""
        found: np.ndarray = (self.factors @ self.terms(states)[..., None])[..., 0]
        return found

    def expressions(self, names: Sequence[str]) -> list[Any]:
        """One sympy expression per state, in the names of the states."""
        import sympy

        symbols = [sympy.Symbol(name, nonnegative=True) for name in names]
        products = [
            sympy.Mul(*(symbol ** _shown(power) for symbol, power in zip(symbols, row) if power))
            for row in self.exponents
        ]
        return [
            sympy.Add(*(_shown(factor) * term for factor, term in zip(row, products) if factor))
            for row in self.factors
        ]

    def equations(self, names: Sequence[str]) -> list[str]:
        """One line per state, such as `dI/dt = 0.5*I*S - 0.1*I`."""
        return [f"d{name}/dt = {right}" for name, right in zip(names, self.expressions(names))]

    def stack(self) -> nn.Sequential:
        """A RealNPU and a NAU with these weights, in float64."""
        terms, states = self.exponents.shape
        powers = RealNPU(states, terms, dtype=torch.float64)
        sums = NAU(terms, states, clamp=False, dtype=torch.float64)
        with torch.no_grad():
            powers.weight.copy_(torch.from_numpy(self.exponents))
            powers.gate.fill_(1.0)
            sums.weight.copy_(torch.from_numpy(self.factors))
        return nn.Sequential(powers, sums)


def _shown(value: float) -> Any:
    """A number for an equation: whole numbers exactly, others with four digits."""
    import sympy

    return sympy.Integer(round(value)) if value == round(value) else sympy.Float(value, _SHOWN)
