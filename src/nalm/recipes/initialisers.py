"""Initialisers: they transform uniform numbers that the caller draws, and draw none themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from nalm.streams import standard_normal


class Initialiser(Protocol):
    """Turns uniform numbers in [0, 1) into initial values of the same shape."""

    def __call__(self, u: Tensor) -> Tensor:
        """The initial values made of `u`."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Uniform in [low, high)."""

    low: float
    high: float

    def __call__(self, u: Tensor) -> Tensor:
        """The initial values made of `u`."""
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True)
class Normal:
    """Normal with the given mean and standard deviation."""

    mean: float
    std: float

    def __call__(self, u: Tensor) -> Tensor:
        """The initial values made of `u`."""
        return self.mean + self.std * standard_normal(u)


@dataclass(frozen=True)
class Constant:
    """The same value everywhere; the randomness is not used."""

    value: float

    def __call__(self, u: Tensor) -> Tensor:
        """The initial values made of `u`."""
        return torch.full_like(u, self.value)


def xavier_uniform(in_features: int, out_features: int, gain: float = 1.0) -> Uniform:
    """Uniform (-r, r) with r = gain * sqrt(6 / (in + out)) (Glorot & Bengio 2010)."""
    bound = gain * math.sqrt(6 / (in_features + out_features))
    return Uniform(-bound, bound)


def xavier_normal(in_features: int, out_features: int) -> Normal:
    """Normal with the standard deviation sqrt(2 / (in + out)) (Glorot & Bengio 2010)."""
    return Normal(0.0, math.sqrt(2 / (in_features + out_features)))


def half_capped(in_features: int, out_features: int) -> Uniform:
    """Xavier uniform whose bound is at most 1/2: the initialisation of the NAU (Madsen & Johansen 2020)."""
    bound = min(0.5, math.sqrt(6 / (in_features + out_features)))
    return Uniform(-bound, bound)


def tanh_sigmoid(in_features: int, out_features: int) -> Uniform:
    """Uniform (-r, r) such that tanh(W) * sigmoid(M) has the variance 2 / fan.

    Madsen & Johansen 2020, appendix B.2, with fan = max(in + out, 5), below which no r exists:
    Var(r) = (1 - tanh(r) / r) (r - tanh(r / 2)) / (2 r).
    """
    from scipy.optimize import brentq  # here, because it would double the time of `import nalm`

    fan = max(in_features + out_features, 5)

    def excess(r: float) -> float:
        return fan * (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r) - 2

    bound = float(brentq(excess, 1e-6, 1e3, xtol=1e-12))
    return Uniform(-bound, bound)


def gated_product_variance(inputs: int, variance: float) -> float:
    """Variance of NMU weights of mean 1/2 that keeps the variance of inputs of mean 0 in the forward pass.

    Madsen & Johansen 2020, equation 69. Negative where no weights can keep it.
    """
    kept = variance * (1 + variance) ** -inputs + (4 + 4 * variance) ** -inputs
    return float(kept ** (1 / inputs) - 0.25)


def torch_linear(in_features: int, out_features: int) -> Uniform:
    """Uniform (-r, r) with r = 1 / sqrt(in), as `torch.nn.Linear` draws its weights and its bias."""
    bound = 1 / math.sqrt(in_features)
    return Uniform(-bound, bound)


SCHEMES = {"nau": half_capped, "xavier": xavier_uniform, "torch": torch_linear}
"""Initialisers by name, for recipes that set their own: functions of in and out features."""
