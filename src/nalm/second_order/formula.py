"""The formula of a model with discrete weights, on rows of a table.

Units keep logarithms and reciprocals finite by epsilons, which near zero cause larger errors than those of
the data. What is judged as exact is therefore the formula without epsilons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from nalm.second_order.discretise import snapped_all
from nalm.second_order.flat import Flat
from nalm.units._base import units_of
from nalm.units._symbolic import as_number

_DISCRETE = 1e-9
"""How far a weight may be from a discrete value and still count as one."""
_NO_NUMBERS = (sp.zoo, sp.oo, -sp.oo, sp.nan)
_ALIKE = 0.01
"""A formula further from the model than this in most rows is not the model's formula."""


def is_readable(flat: Flat, vector: Tensor) -> bool:
    """Whether all weights, including frozen ones, are discrete, and no gate depends on the inputs."""
    discrete = bool(((snapped_all(flat, vector[None])[0] - vector).abs() <= _DISCRETE).all())
    return discrete and all(unit.readable() for unit in units_of(flat.single(vector)))


def formula_values(flat: Flat, vector: Tensor, x: Tensor) -> Tensor | None:
    """The values of the formula for x `n x in`, as `n x out`; None if the model has no readable formula.

    Args:
        flat: the architecture; only stacks of units are read.
        vector: its parameters, which must be readable.
        x: the inputs.
    """
    if not flat.models.native:
        return None
    units = units_of(flat.single(vector))
    if units[0].logical and not bool(((x == 0) | (x == 1)).all()):
        return None  # the formula is one of truth values
    values: list[Any] = [sp.Dummy(f"x{k}", real=True) for k in range(x.shape[-1])]
    symbols = values
    try:
        for unit in units:
            values = unit.expression(values, idealised=True)
    except NotImplementedError:  # a user's own unit need not have a symbolic form
        return None
    if any(value.has(*_NO_NUMBERS) for value in values):
        return None  # such as division by an empty sum
    found = _evaluated(values, symbols, x)
    return found if _agree(found, flat.predict(vector[None], x)[0]) else None


def _agree(formula: Tensor, outputs: Tensor) -> bool:
    """Whether model and formula agree except for epsilons: a hook may change what the model computes."""
    close = (formula - outputs).abs() <= _ALIKE * (1 + outputs.abs())
    return bool(close.double().mean() > 0.5)


def _evaluated(expressions: list[Any], symbols: list[Any], x: Tensor) -> Tensor:
    function = sp.lambdify([symbols], [as_number(e) for e in expressions], "numpy")
    columns = list(x.numpy().T)
    with np.errstate(all="ignore"):
        outputs = [np.broadcast_to(np.asarray(value), len(x)) for value in function(columns)]
    real = [np.where(np.abs(out.imag) > 0, np.nan, out.real).astype(np.float64) for out in outputs]
    return torch.from_numpy(np.stack(real, -1))
