"""Helpers for a user's own network and training loop: they find the units in any `nn.Module`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError
from nalm.units._base import Unit, units_of
from nalm.units._computed import change_
from nalm.units._remarks import keeping_remarks


def penalty(model: nn.Module) -> Tensor:
    """The sum of the units' penalties, to be scaled by a strength and added to a loss; 0 without units."""
    if isinstance(model, nn.Module) and not units_of(model):
        some = next(model.parameters(), torch.zeros(()))
        return some.new_zeros(())
    return torch.stack([unit.penalty() for unit in checked_units(model)]).sum(0)


def project_(model: nn.Module) -> None:
    """Move every unit's parameters back into its admissible set, in place, after an optimiser step."""
    change_(checked_units(model), lambda unit: unit.project_())


def snap_(model: nn.Module) -> Tensor:
    """Move every weight and gate to the nearest discrete value, in place.

    Returns:
        The largest distance that an effective weight moved.
    """
    units = checked_units(model)
    before = [_values(unit) for unit in units]
    with keeping_remarks(model):
        change_(units, lambda unit: unit.snap_())
    moves = [
        (new - old).abs().max() for unit, olds in zip(units, before) for new, old in zip(_values(unit), olds)
    ]
    return torch.stack(moves).max()


def sparsity_error(model: nn.Module, *, gates: bool = False, biases: bool = False) -> Tensor:
    """Largest distance of a weight of any unit from {-1, 0, 1}, gates and biases included if wanted."""
    errors = [unit.sparsity_error(gates=gates, biases=biases) for unit in checked_units(model)]
    return torch.stack(errors).amax(0)


def _values(unit: Unit) -> list[Tensor]:
    return [value.detach().clone() for value in (*unit.weights().values(), *unit.gates().values())]


def checked_units(model: nn.Module) -> list[Unit]:
    """The units of a model, which must contain at least one, all with the same batch_shape."""
    found = units_of(model) if isinstance(model, nn.Module) else []
    if not found:
        raise ArgumentError("model", "a module that contains nalm units", type(model).__name__)
    shapes = {tuple(unit.batch_shape) for unit in found}
    if len(shapes) > 1:
        got = " and ".join(map(str, sorted(shapes)))
        raise ArgumentError("model", "made of units with the same batch_shape", got)
    return found
