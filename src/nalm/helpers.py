"""One-line helpers for a user's own network and training loop: they find the units in any `nn.Module`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from nalm.errors import ArgumentError
from nalm.units._base import Unit, units_of
from nalm.units._computed import change_
from nalm.units._remarks import keeping_remarks

if TYPE_CHECKING:
    from nalm.training.loop import Attachment


def penalty(model: nn.Module) -> Tensor:
    """Sum over the units of each one's penalty, to be added to a loss times a strength; 0 without units."""
    if isinstance(model, nn.Module) and not units_of(model):
        some = next(model.parameters(), torch.zeros(()))
        return some.new_zeros(())
    return torch.stack([unit.penalty() for unit in _units(model)]).sum(0)


def project_(model: nn.Module) -> None:
    """Move every unit's parameters back into its admissible set, in place, after an optimiser step."""
    change_(_units(model), lambda unit: unit.project_())


@overload
def attach(model: nn.Module, optimizer: torch.optim.Optimizer) -> RemovableHandle: ...


@overload
def attach(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    iterations: int,
    op: str | None = ...,
    recipe: str | None = ...,
    strength: float = ...,
) -> Attachment: ...


def attach(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    iterations: int | None = None,
    op: str | None = None,
    recipe: str | None = None,
    strength: float = 1.0,
) -> RemovableHandle | Attachment:
    """Project the model after every step of the optimiser by itself; `.remove()` on the result ends it.

    With `iterations` every unit follows its own published recipe as well: its rate, clips and clamps are
    applied in the optimiser's step, and `penalty(loss)` of the result is to be added to the loss.

    Args:
        model: any module that contains units.
        optimizer: what trains it.
        iterations: the steps that the loop will take.
        op: the operation whose recipe units take that can express it; others take that of their first.
        recipe: the name of a recipe for units that have it; others, and all by default, take "published".
        strength: what all penalties are multiplied with; in stacks a tenth works better than the published 1.
    """
    _units(model)
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ArgumentError("optimizer", "a torch.optim.Optimizer", type(optimizer).__name__)
    if iterations is not None:
        from nalm.training.loop import Attachment

        return Attachment(model, optimizer, iterations, op, recipe, strength)
    if op is not None or recipe is not None or strength != 1:
        raise ArgumentError("iterations", "the number of steps, where a recipe is to be followed", "None")

    def after_step(*_: Any) -> None:
        project_(model)

    return optimizer.register_step_post_hook(after_step)


def snap_(model: nn.Module) -> Tensor:
    """Move every weight and gate to the nearest discrete value, in place.

    Returns:
        The largest distance that an effective weight moved.
    """
    units = _units(model)
    before = [_values(unit) for unit in units]
    with keeping_remarks(model):
        change_(units, lambda unit: unit.snap_())
    moves = [
        (new - old).abs().max() for unit, olds in zip(units, before) for new, old in zip(_values(unit), olds)
    ]
    return torch.stack(moves).max()


def sparsity_error(model: nn.Module, *, gates: bool = False) -> Tensor:
    """Largest distance of a weight of any unit from {-1, 0, 1}; with `gates`, gates count too."""
    return torch.stack([unit.sparsity_error(gates=gates) for unit in _units(model)]).amax(0)


def _values(unit: Unit) -> list[Tensor]:
    return [value.detach().clone() for value in (*unit.weights().values(), *unit.gates().values())]


def _units(model: nn.Module) -> list[Unit]:
    found = units_of(model) if isinstance(model, nn.Module) else []
    if not found:
        raise ArgumentError("model", "a module that contains nalm units", type(model).__name__)
    shapes = {tuple(unit.batch_shape) for unit in found}
    if len(shapes) > 1:
        got = " and ".join(map(str, sorted(shapes)))
        raise ArgumentError("model", "made of units with one batch_shape", got)
    return found
