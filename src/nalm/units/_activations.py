"""Activations as pure functions: those of Trask et al. 2018, table 5, and CReLU of table 6.

Each has a name, a torch function and a sympy expression. Their constants are torch's defaults: ELU with
alpha 1, LeakyReLU with slope 0.01, Softshrink with lambda 0.5. Threshold has no default in torch: here it
passes values above 0 and gives 0 below. Only PReLU is learnt: its slope below zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

PRELU_SLOPE = 0.25
"""The slope that PReLU starts from."""
_LEAK, _SHRINK = 0.01, 0.5
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def crelu(x: Tensor) -> Tensor:
    """max(x, 0) and max(-x, 0) side by side: `... x n` to `... x 2n`."""
    return torch.cat([x, -x], -1).relu()


def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """x above zero and slope * x below: x `*batch x n x in`, slope `*batch x 1`."""
    return torch.where(x > 0, x, slope[..., None] * x)


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "softsign": F.softsign,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "threshold": lambda x: F.threshold(x, 0.0, 0.0),
    "selu": F.selu,
    "elu": F.elu,
    "softshrink": lambda x: F.softshrink(x, _SHRINK),
    "relu": torch.relu,
    "leakyrelu": lambda x: F.leaky_relu(x, _LEAK),
    "tanhshrink": F.tanhshrink,
    "softplus": F.softplus,
    "prelu": prelu,
    "crelu": crelu,
    "none": lambda x: x,
}
"""The activations by name; PReLU takes its slope as a second argument."""


def widening(name: str) -> int:
    """How many values an activation returns per input."""
    return 2 if name == "crelu" else 1


def expressions(name: str, symbols: Sequence[Any], slope: float = PRELU_SLOPE) -> list[Any]:
    """The values of an activation as sympy expressions."""
    import sympy as sp

    if name == "crelu":
        return [sp.Max(x, 0) for x in (*symbols, *(-x for x in symbols))]
    one, real = sp.Integer(1), sp.Float
    forms: dict[str, Callable[[Any], Any]] = {
        "hardtanh": lambda x: sp.Max(-one, sp.Min(one, x)),
        "relu6": lambda x: sp.Min(sp.Integer(6), sp.Max(x, 0)),
        "softsign": lambda x: x / (1 + sp.Abs(x)),
        "tanh": sp.tanh,
        "sigmoid": lambda x: 1 / (1 + sp.exp(-x)),
        "threshold": lambda x: sp.Max(x, 0),
        "selu": lambda x: (
            real(_SELU_SCALE) * sp.Piecewise((x, x > 0), (real(_SELU_ALPHA) * (sp.exp(x) - 1), True))
        ),
        "elu": lambda x: sp.Piecewise((x, x > 0), (sp.exp(x) - 1, True)),
        "softshrink": lambda x: sp.Max(x - one / 2, 0) - sp.Max(-x - one / 2, 0),
        "relu": lambda x: sp.Max(x, 0),
        "leakyrelu": lambda x: sp.Piecewise((x, x > 0), (real(_LEAK) * x, True)),
        "tanhshrink": lambda x: x - sp.tanh(x),
        "softplus": lambda x: sp.log(1 + sp.exp(x)),
        "prelu": lambda x: sp.Piecewise((x, x > 0), (real(slope) * x, True)),
        "none": lambda x: x,
    }
    return [forms[name](x) for x in symbols]
