"""Pictures of the grid world, 56 x 56 points: each square has 10 x 10, between lines of one point."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from nalm.tasks.grid_world.rules import SIDE, SQUARES

POINTS = 56
_SQUARE = 10
_LINE, _FLOOR, _AGENT, _TARGET = (40, 40, 40), (0, 0, 0), (160, 160, 160), (255, 0, 0)


def picture(agent: int, target: int) -> Tensor:
    """The picture of a state, `56 x 56 x 3`, bytes; an agent on the red square hides it."""
    shown = torch.tensor(_LINE, dtype=torch.uint8).repeat(POINTS, POINTS, 1)
    colours = dict.fromkeys(range(SQUARES), _FLOOR) | {target: _TARGET} | {agent: _AGENT}
    for place, colour in colours.items():
        top, left = (1 + (_SQUARE + 1) * k for k in divmod(place, SIDE))
        shown[top : top + _SQUARE, left : left + _SQUARE] = torch.tensor(colour, dtype=torch.uint8)
    return shown


@functools.cache
def all_pictures() -> Tensor:
    """Every picture that there is, `625 x 56 x 56 x 3`; see `number` for their order."""
    return torch.stack([picture(agent, target) for agent in range(SQUARES) for target in range(SQUARES)])


def number(agent: Tensor, target: Tensor) -> Tensor:
    """Which of `all_pictures` shows a state."""
    return agent * SQUARES + target


def as_input(pictures: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Pictures `n x 56 x 56 x 3` as a convolutional network takes them: `n x 3 x 56 x 56`, from 0 to 1."""
    return pictures.movedim(-1, -3).to(dtype) / 255
