"""How far weights are from the discrete values that they are read as."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nalm.symbolic.sources import Source
from nalm.units._base import Unit


@dataclass(frozen=True)
class Move:
    """The weight or gate that is furthest from its discrete value.

    Attributes:
        distance: the distance.
        which: its name, such as `W[0, 1] of layer 2 (NMU)`.
        value: its value.
        target: the nearest discrete value.
    """

    distance: float
    which: str = ""
    value: float = 0.0
    target: float = 0.0

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return f"{self.which} is {self.value}"
        return f"{self.which} is {self.value:.4g}, {self.distance:.3g} away from {self.target:g}"


def largest_move(source: Source, snapped: Source, named_from: float = 0.0) -> Move:
    """The largest move made by snapping, among the values that decide the output.

    Args:
        source: the model.
        snapped: the same model after snapping.
        named_from: up to this distance the name of the value is not looked up.
    """
    moves = [_of_unit(before, after) for before, after in zip(source.units, snapped.units)]
    k = max(range(len(moves)), key=lambda k: math.inf if math.isnan(moves[k][0]) else moves[k][0])
    distance, name, place = moves[k]
    if distance <= named_from:
        return Move(distance)
    old, new = (_held(side.units[k])[name] for side in (source, snapped))
    index = tuple(int(i) for i in np.unravel_index(place, old.shape))
    value, target = float(old[index]), float(new[index]) + 0.0  # without the sign of zero
    label = source.label(source.units[k])
    which = f"{name}[{', '.join(map(str, index))}]" + (f" of {label}" if label else "")
    return Move(distance, which, value, target)


def _of_unit(before: Unit, after: Unit) -> tuple[float, str, int]:
    """The largest move of a value that decides the output, its name and its position."""
    old, new, matters = _held(before), _held(after), after.decisive_mask()
    found = (0.0, "", 0)
    for name, value in old.items():
        move = (new[name] - value).abs().flatten()
        if name in matters:
            move = torch.where(matters[name].flatten(), move, 0.0)
        largest, place = move.max(0)  # NaN is the largest
        if not float(largest) <= found[0]:
            found = (float(largest), name, int(place))
    return found


def _held(unit: Unit) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in unit.discrete().items()}
