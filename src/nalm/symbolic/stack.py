"""Recognise a module that is a stack of units, regardless of how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.symbolic.check import samples
from nalm.symbolic.follow import CannotFollow, follow
from nalm.symbolic.sources import Chain, Network, chain_of, copied_plain, unwrapped
from nalm.units._base import Unit, units_of
from nalm.units._computed import computed_names


def as_stack(model: nn.Module) -> nn.Sequential | None:
    """The module's units as an `nn.Sequential`, if it only applies them in turn; None if it does more.

    A module that passes its input from unit to unit, with no changes of shape but those that leave the rows
    unchanged, computes the same as an `nn.Sequential` of its units. The units are not copied: training the
    stack trains the module.
    """
    model = unwrapped(model)
    plain = chain_of(model)
    if plain is not None:
        return nn.Sequential(*plain)
    units = units_of(model)
    if not units or any(unit.batch_shape or computed_names(unit) for unit in units):
        return None
    paths = dict(model.named_modules())
    try:
        network = Network.of(copied_plain(model), None)
        order = _order(network)
    except (ArgumentError, CannotFollow):
        return None
    if not _same(network, Chain(order)):
        return None
    found = [unwrapped(paths[network.paths[unit]]) for unit in order]
    others = {id(parameter) for parameter in model.parameters()}
    others -= {id(parameter) for unit in found for parameter in unit.parameters()}
    if others or not all(isinstance(unit, Unit) for unit in found):
        return None
    return nn.Sequential(*found)


def _order(network: Network) -> list[Unit]:
    """The units in the order of a chain; an error if values are changed between them."""
    import sympy as sp

    rows = np.array([[sp.Dummy() for _ in range(network.inputs)] for _ in range(2)], object)

    def apply(unit: Unit, _: list[Any]) -> list[Any]:
        return [sp.Dummy() for _ in range(unit.out_features)]

    x = torch.rand(rows.shape, dtype=network.dtype) + 0.5
    result, calls = follow(network.model, x, rows, apply)
    order = []
    for pair in _pairs(calls):
        if [call.inputs for call in pair] != [list(row) for row in rows]:
            raise CannotFollow("a unit's inputs are not the outputs of the unit before it")
        rows = np.array([call.outputs for call in pair], object)
        order.append(pair[0].unit)
    if result.shape != rows.shape or (result != rows).any():
        raise CannotFollow("the result is not that of the last unit")
    return order


def _same(network: Network, chain: Chain) -> bool:
    """Whether both give the same numbers: a module may do something else for other inputs."""
    with torch.no_grad():
        x = samples(network.inputs).to(network.dtype)
        ours, theirs = network.run(x)[0], chain.run(x)[0]
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=1e-3, equal_nan=True)


def _pairs(calls: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The calls in pairs, one per row: a unit that is called on more rows is not in a plain chain."""
    if len(calls) % 2:
        raise CannotFollow("a unit is not called on two rows")
    yield from zip(calls[::2], calls[1::2])
