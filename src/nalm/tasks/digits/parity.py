"""How many of up to five digits in one image are even (Trask et al. 2018, section 4.6; Seguí et al. 2015).

The papers have neither data nor network. Ours are those of Seguí et al. as far as they are known: up to five
digits at random places of an image of 100 x 100 points; conv 10@15, pool, conv 10@3, pool, linear to 32
values, then the layer under test to six classes, by their softmax. Nothing is said of training: here Adam
with the rate 0.001, batches of 64 images, 50 epochs of 10,000 images. In the reduced protocol images have
56 x 56 points and up to three digits, and there are four classes. Every image has at least one digit; where
digits overlap, the brighter is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.digit_networks import EvenCounter
from nalm.recipes import CrossEntropy, Ramp
from nalm.tasks._base import Facet, Numbers
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.pools import pool, shown
from nalm.tasks.measures import MeanCrossEntropy, WrongClass

DIGIT = 28
"""Points of a digit along each side."""


@dataclass(frozen=True)
class MnistParity(DigitTask):
    """The number of even digits in an image of several."""

    op: str = "count-even"

    name = "mnist-parity"
    ops = ("count-even",)
    models: ClassVar[tuple[str, ...]] = (
        *("linear", "linear(weight=sigmoid)", "linear(weight=tanh)", "linear(bias=false)"),
        *("linear(weight=sigmoid;bias=false)", "linear(weight=tanh;bias=false)", "nac"),
    )
    epochs: ClassVar[int] = 50
    quick_steps: ClassVar[int] = 2500
    images_per_step: ClassVar[int] = 64
    in_features = 32
    loss = CrossEntropy()
    measures = (MeanCrossEntropy(), WrongClass())

    @property
    def recipe_op(self) -> str:
        """The layer adds."""
        return "add"

    @property
    def side(self) -> int:
        """Points of an image along each side."""
        return 56 if self.is_quick else 100

    @property
    def most_digits(self) -> int:
        """The largest number of digits in an image."""
        return 3 if self.is_quick else 5

    @property
    def out_features(self) -> int:  # type: ignore[override]
        """The classes: none, one, … of the digits are even."""
        return self.most_digits + 1

    @property
    def input_shape(self) -> tuple[int, ...]:
        """An image."""
        return (self.side, self.side)

    @property
    def draws(self) -> int:
        """How many digits, and for each its image and its place."""
        return 1 + 3 * self.most_digits

    @property
    def input_names(self) -> list[str]:
        """Values of the layer before."""
        return [f"x{k + 1}" for k in range(self.in_features)]

    def epoch(self) -> int:
        """Steps in which 10,000 images are drawn."""
        return 10_000 // self.batch_size

    def samples(self, split: str) -> int:
        """Images to evaluate on."""
        return 2000 if self.is_quick else 10_000

    def block(self, split: str) -> int:
        """Images at once."""
        return 200

    def constants(self, split: str) -> dict[str, Tensor]:
        """The digits of the split."""
        held = pool(self.digits, split)
        return {"images": held.images, "labels": held.labels}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x side x side`, and the class as one-hot vectors."""
        most = self.most_digits
        count = 1 + (u[:, 0] * most).long()
        image, row, column = u[:, 1:].unflatten(1, (3, most)).unbind(1)
        index = (image * len(numbers["labels"])).long()
        there = torch.arange(most, device=u.device)[:, None] < count[:, None]
        even = (there & (numbers["labels"][index] % 2 == 0)).sum(1)
        free = self.side - DIGIT + 1
        places = torch.stack([row, column], -1).mul(free).long()
        pictures = shown(numbers["images"][index], u.dtype) * there[..., None, None]
        return laid_out(pictures, places, self.side), nn.functional.one_hot(even, most + 1).to(u.dtype)

    def trained_part(self, outputs: Tensor) -> Tensor:
        """All logits."""
        return outputs

    def network(self, unit: nn.Module) -> nn.Module:
        """The network of Seguí et al. with the unit as its last layer."""
        return EvenCounter(self.side, unit, self.in_features)

    def penalty_strength(self) -> float:
        """Ours, for units that the paper does not have."""
        return 0.01

    def window(self) -> Ramp:
        """Ours: the third quarter of training."""
        return Ramp(0.5 * self.steps, 0.75 * self.steps)

    def facets(self) -> tuple[Facet, ...]:
        """How many images are counted wrongly."""
        return (Facet({}, "test/wrong_class"),)


def laid_out(pictures: Tensor, places: Tensor, side: int) -> Tensor:
    """Digits `models x digits x n x 28 x 28` at places `models x digits x n x 2`; the brighter is seen."""
    models, digits, n = pictures.shape[:3]
    canvas = pictures.new_zeros(models * n, side, side)
    along = torch.arange(DIGIT, device=pictures.device)
    image = torch.arange(models * n, device=pictures.device)[:, None, None]
    for k in range(digits):
        row, column = places[:, k].flatten(0, 1).unbind(-1)
        where = (image, row[:, None, None] + along[:, None], column[:, None, None] + along)
        canvas[where] = torch.maximum(canvas[where], pictures[:, k].flatten(0, 1))
    return canvas.unflatten(0, (models, n))
