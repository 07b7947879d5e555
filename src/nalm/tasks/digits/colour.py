"""Two digits in two colour channels, turned, scaled and moved, multiplied (thesis, 4.6.1.2 and E.4.2).

The seed chooses one of three folds: 34 or 33 pairs of digits are tested on, 15 validate, the others train.

Deviations: the thesis prints 61,710 training samples, which is not 1,100 times its 51 pairs; samples are
drawn afresh here, so that only the length of an epoch depends on it (56,100 samples). Two of the three folds
have 33 pairs to test on, not 34. Validation and tests show images that training does not; the network is
chosen by its error on the validation pairs. Images are not standardised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.colour_reader import ColourReader
from nalm.models.digit_networks import ColourPair
from nalm.models.distortion import distorted
from nalm.recipes import Ramp
from nalm.tasks._base import Facet, Numbers, Split
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.measures import PAIR_MEASURES
from nalm.tasks.digits.pairs import fold_pairs, picked_digits, picked_images
from nalm.tasks.digits.pools import shown, sorted_pool

FOLDS = 3
VALIDATION_PAIRS = 15
SIDE = 42
"""Points of an image along each side."""


@dataclass(frozen=True)
class MnistColour(DigitTask):
    """The product of two digits that lie on top of each other, each in its own colour channel."""

    name = "mnist-colour"
    ops = ("mul",)
    models: ClassVar[tuple[str, ...]] = ("mul", "fc-product", "nmu", "snmu", "snmu(noise=batch)")
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 3, "paper": 3}
    batch_size: ClassVar[int] = 256
    quick_batch_size: ClassVar[int] = 64
    quick_steps: ClassVar[int] = 1200
    in_features = 2
    input_shape = (2, SIDE, SIDE)
    target_shape = (4,)
    measures = PAIR_MEASURES

    def epoch(self) -> int:
        """Steps in which 1100 samples of each pair are drawn."""
        return 56_100 // (self.quick_batch_size if self.is_quick else self.batch_size)

    @property
    def images_per_step(self) -> int:  # type: ignore[override]
        """Two digits per sample."""
        return 2 * (self.quick_batch_size if self.is_quick else self.batch_size)

    @property
    def draws(self) -> int:
        """The pair, and for each digit its image, angle, scale and place."""
        return 11

    def samples(self, split: str) -> int:
        """The size of the thesis's sets, or fewer in the reduced protocol."""
        if self.is_quick:
            return 1000
        return 37_400 if split == Split.TEST else 16_500

    def block(self, split: str) -> int:
        """A hundred samples at once."""
        return 100

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The pairs of the seed's fold."""
        return {"pairs": fold_pairs(seed % FOLDS, FOLDS, validation=VALIDATION_PAIRS)[split]}

    def constants(self, split: str) -> dict[str, Tensor]:
        """The images of the split by label."""
        held, starts, counts = sorted_pool(self.digits, split)
        return {"images": held.images, "starts": starts, "counts": counts}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x 2 x 42 x 42`, and product, digits and product `models x n x 4`."""
        digits = picked_digits(u[:, 0], numbers["pairs"])
        index = picked_images(u[:, 1:3].transpose(1, 2), digits.long(), numbers)
        places = u[:, 3:].unflatten(1, (2, 4)).permute(0, 3, 1, 2)
        images = distorted(shown(numbers["images"][index], u.dtype), places, SIDE)
        product = digits.prod(-1, keepdim=True)
        return images, torch.cat([product, digits, product], -1)

    def network(self, unit: nn.Module) -> nn.Module:
        """Two spatial transformers and a classifier (figures E.2 and E.3), and the unit."""
        return ColourPair(ColourReader(), unit)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """See `nalm.models.digit_networks.with_readings`."""
        return (4,)

    def penalty_strength(self) -> float:
        """Thesis, table 4.2."""
        return 100.0

    def window(self) -> Ramp:
        """Thesis, table 4.2: epochs 30 to 40."""
        return Ramp(30.0 * self.epoch(), 40.0 * self.epoch())

    def facets(self) -> tuple[Facet, ...]:
        """How many results are wrong, rounded as in the thesis."""
        return (Facet({"accuracy": "rounded"}, "test/wrong_rounded"),)
