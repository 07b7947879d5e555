r"""The two optimisers that the iNALU's authors used, as pure functions of one variable's gradient.

With the gradient :math:`g` clipped to [-0.1, 0.1] element by element, the rate :math:`\eta`, and all powers,
roots and quotients element by element, a step of a variable :math:`v` is

- RMSProp: :math:`s \leftarrow 0.9 s + 0.1 g^2`, :math:`v \leftarrow v - \eta g / \sqrt{s + 10^{-10}}`;
  s starts at 1;
- Adam: :math:`m \leftarrow 0.9 m + 0.1 g`, :math:`s \leftarrow 0.999 s + 0.001 g^2`,
  :math:`v \leftarrow v - \eta \frac{\sqrt{1 - 0.999^t}}{1 - 0.9^t} \frac{m}{\sqrt s + 10^{-8}}`;
  m and s start at 0, and t is the number of steps that the model has taken, this one included.

Both are TensorFlow's: its RMSProp adds epsilon inside the root, its Adam outside it. One optimiser takes all
steps of a model: those of the weights, those of the gates, and those of both on the regulariser. They share m
and s of each variable, and each of them counts in t, whichever variables it changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

_CLIP = 0.1

Slots = tuple[Tensor, ...]
"""What a rule remembers of a variable, each of its shape."""


@dataclass(frozen=True)
class Rule:
    """An optimiser.

    Attributes:
        starts: the initial value of each slot.
        move: from the slots, the clipped gradient and t, the new slots and the direction of the step.
    """

    starts: tuple[float, ...]
    move: Callable[[Slots, Tensor, Tensor], tuple[Slots, Tensor]]

    def step(
        self, value: Tensor, slots: Slots, slope: Tensor, rate: float, time: Tensor, where: Tensor
    ) -> tuple[Tensor, Slots]:
        """A step on the clipped gradient where `where` is true: the new value and slots."""
        after, direction = self.move(slots, slope.clamp(-_CLIP, _CLIP), time)
        kept = tuple(torch.where(where, new, old) for new, old in zip(after, slots))
        return torch.where(where, value - rate * direction, value), kept


def _rmsprop(slots: Slots, slope: Tensor, time: Tensor) -> tuple[Slots, Tensor]:
    square = 0.9 * slots[0] + 0.1 * slope.square()
    return (square,), slope / torch.sqrt(square + 1e-10)


def _adam(slots: Slots, slope: Tensor, time: Tensor) -> tuple[Slots, Tensor]:
    mean = 0.9 * slots[0] + 0.1 * slope
    square = 0.999 * slots[1] + 0.001 * slope.square()
    scale = torch.sqrt(1 - _power(0.999, time)) / (1 - _power(0.9, time))
    return (mean, square), scale * mean / (torch.sqrt(square) + 1e-8)


def _power(base: float, exponent: Tensor) -> Tensor:
    return torch.exp(math.log(base) * exponent)


RULES = {"RMSProp": Rule((1.0,), _rmsprop), "Adam": Rule((0.0, 0.0), _adam)}
