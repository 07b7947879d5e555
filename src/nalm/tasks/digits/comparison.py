"""Which of two digits is larger (thesis, appendix D.3.2, after Faber & Wattenhofer 2020).

The papers have no settings. Here the network reads each digit as in sequential MNIST, and the unit
says whether the first is larger than the second: the target is 1 or 0, trained by the squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.digit_networks import DigitPair
from nalm.models.digit_readers import RegressionReader
from nalm.models.pair_cnn import PairCNN
from nalm.recipes import Ramp
from nalm.tasks._base import Facet, Numbers
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.measures import PairError, ReadDigits, WrongResult
from nalm.tasks.digits.pools import pool, shown


@dataclass(frozen=True)
class MnistComparison(DigitTask):
    """Whether the first of two digits is larger than the second."""

    op: str = "gt"

    name = "mnist-comparison"
    ops = ("gt",)
    models: ClassVar[tuple[str, ...]] = ("nsr", "nsr(redundancy=10)", "mlp", "pair-cnn")
    epochs: ClassVar[int] = 50
    quick_steps: ClassVar[int] = 600
    images_per_step: ClassVar[int] = 128
    in_features = 2
    input_shape = (2, 28, 28)
    target_shape = (4,)
    measures = (PairError(), WrongResult("wrong_rounded", decimals=0), ReadDigits(positions=2))

    @property
    def draws(self) -> int:
        """An image of each digit."""
        return 2

    def epoch(self) -> int:
        """Steps in which as many digits are drawn as there are."""
        return 55_000 // self.images_per_step

    def samples(self, split: str) -> int:
        """Pairs to evaluate on."""
        return 2000

    def block(self, split: str) -> int:
        """Pairs at once."""
        return 200

    def constants(self, split: str) -> dict[str, Tensor]:
        """The digits of the split."""
        held = pool(self.digits, split)
        return {"images": held.images, "labels": held.labels}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x 2 x 28 x 28`, and answer, digits and answer `models x n x 4`."""
        index = (u * len(numbers["labels"])).long().transpose(1, 2)
        digits = numbers["labels"][index].to(u.dtype)
        larger = (digits[..., :1] > digits[..., 1:]).to(u.dtype)
        return shown(numbers["images"][index], u.dtype), torch.cat([larger, digits, larger], -1)

    def network(self, unit: nn.Module) -> nn.Module:
        """A reader of each digit, and the unit; a network that sees both images takes them itself."""
        return unit if isinstance(unit, PairCNN) else DigitPair(RegressionReader(), unit)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """See `nalm.models.digit_networks.with_readings`."""
        return (4,)

    def penalty_strength(self) -> float:
        """None is known."""
        return 0.0

    def window(self) -> Ramp:
        """Of no importance without a penalty."""
        return Ramp(0.0, 1.0)

    def facets(self) -> tuple[Facet, ...]:
        """How many answers are wrong."""
        return (Facet({}, "test/wrong_rounded"),)
