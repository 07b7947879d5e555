"""Two digits side by side, multiplied or divided, tested on pairs never seen (thesis, 4.6.1.1 and 5.10).

The seed chooses the fold: fold = seed mod 10. There are 100 ordered pairs of digits, 81 without zeros for
division; a tenth of them is tested on.

Deviations: the thesis makes 1000 samples of each pair beforehand and takes the model of the last epoch. Here
samples are drawn afresh, tests show test images and not training images, and the model is chosen by its error
on pairs of the training set shown by images held out from it. The unit starts differently in every fold. The
temperature of the soft index, which the thesis does not state, is 1. The MLP has no L2 penalty, whose
strength it does not state either. The RealNPU keeps the L1 penalty of its own recipe, on its own parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from nalm.models.digit_networks import DigitPair
from nalm.models.digit_readers import READERS
from nalm.recipes import Ramp
from nalm.tasks._base import Facet, Numbers, Split
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.measures import PAIR_MEASURES
from nalm.tasks.digits.pairs import fold_pairs, picked_digits, picked_images
from nalm.tasks.digits.pools import shown, sorted_pool

FOLDS = 10


@dataclass(frozen=True)
class MnistIsolated(DigitTask):
    """The product or the quotient of two digits.

    Attributes:
        op: mul or div.
        digits: the data set.
        per_digit: how many images of each digit a batch of training shows, from which its pairs are drawn;
            None gives every pair its own. Fewer images make a step several times faster, at the price of
            gradients that vary more and of images that sometimes meet themselves.
        most_images: the most images to evaluate on.
        reader: the network that reads a digit, one of `nalm.models.digit_readers.READERS`.
    """

    per_digit: int | None = None
    most_images: int | None = None
    reader: str = "classifier"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_few("per_digit", self.per_digit, self.digits_shown)

    name = "mnist-isolated"
    ops = ("mul", "div")
    models: ClassVar[tuple[str, ...]] = (
        *("mul", "fc-product", "nmu", "snmu", "snmu(noise=batch)"),
        *("div", "mlp(hidden=256x256)", "realnpu@modified", "nru", "nmru"),
    )
    batch_size: ClassVar[int] = 128
    quick_batch_size: ClassVar[int] = 256
    quick_learning_rate: ClassVar[float] = 2e-3
    in_features = 2
    input_shape = (2, 28, 28)
    target_shape = (4,)
    measures = PAIR_MEASURES

    @property
    def zeros(self) -> bool:
        """Nothing is divided by zero."""
        return self.op == "mul"

    @property
    def quick_steps(self) -> int:  # type: ignore[override]
        """Fewer for quotients, of which more models are compared."""
        return 8000 if self.op == "mul" else 5000

    @property
    def digits_shown(self) -> int:
        """The number of different digits."""
        return 10 if self.zeros else 9

    def reduced(self) -> Self:
        """With batches that show few images of each digit, fewer images to evaluate on, a smaller reader."""
        changes: dict[str, Any] = {"per_digit": 4, "most_images": 5000, "reader": "small-classifier"}
        return replace(super().reduced(), **changes)

    @property
    def images_per_step(self) -> int:  # type: ignore[override]
        """The images of a batch."""
        return 2 * self.batch_size if self.per_digit is None else self.digits_shown * self.per_digit

    def epoch(self) -> int:
        """Steps in which 1000 samples of each pair, or, with few per batch, all images are drawn."""
        if self.per_digit is not None:
            return 55_000 // self.images_per_step
        return 90_000 // self.batch_size if self.op == "mul" else 73_000 // self.batch_size

    @property
    def draws(self) -> int:
        """The pair, an image of each digit, and the images of a batch that shows few."""
        return 4

    def samples(self, split: str) -> int:
        """As many as in the thesis's product; its division has 8,000 or 9,000."""
        return 10_000

    def block(self, split: str) -> int:
        """All of them: they share their images."""
        return self.samples(split)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The pairs of the seed's fold; validation shows pairs of training."""
        pairs = fold_pairs(seed % FOLDS, FOLDS, zeros=self.zeros)
        return {"pairs": pairs["test" if split == Split.TEST else "train"]}

    def constants(self, split: str) -> dict[str, Tensor]:
        """The images of the split by label."""
        held, starts, counts = sorted_pool(self.digits, split, None if split == "train" else self.most_images)
        return {"images": held.images, "starts": starts, "counts": counts}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x 2 x 28 x 28`, or images and an index `models x n x 2`; and the answers."""
        digits = picked_digits(u[:, 0], numbers["pairs"])
        picks = u[:, 1:3].transpose(1, 2)
        if "block" in numbers:
            models = torch.ones_like(u[:, :1, :1, None])
            all_images = models * shown(numbers["images"], u.dtype)
            inputs: Any = (all_images, picked_images(picks, digits.long(), numbers))
        elif self.per_digit is None:
            inputs = shown(numbers["images"][picked_images(picks, digits.long(), numbers)], u.dtype)
        else:
            inputs = self._few_images(u[:, 3], picks, digits.long(), numbers)
        answer = self._answer(digits)
        return inputs, torch.cat([answer, digits, answer], -1)

    def _few_images(
        self, u: Tensor, picks: Tensor, digits: Tensor, numbers: Numbers
    ) -> tuple[Tensor, Tensor]:
        """`per_digit` images of each digit, and which of them stand where."""
        per = self.per_digit or 1
        shown_digits = torch.arange(10 - self.digits_shown, 10, device=u.device).repeat_interleave(per)
        counts, starts = numbers["counts"][shown_digits], numbers["starts"][shown_digits]
        images = numbers["images"][starts + (u[:, : len(counts)] * counts).long()]
        first = 10 - self.digits_shown
        return shown(images, u.dtype), (digits - first) * per + (picks * per).long()

    def _answer(self, digits: Tensor) -> Tensor:
        first, second = digits[..., :1], digits[..., 1:]
        return first * second if self.op == "mul" else first / second

    def network(self, unit: nn.Module) -> nn.Module:
        """The thesis's classifier (figure E.1) of each digit, and the unit."""
        return DigitPair(READERS[self.reader](), unit)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """See `nalm.models.digit_networks.with_readings`."""
        return (4,)

    def penalty_strength(self) -> float:
        """Thesis, tables 4.2 and 5.4."""
        return 100.0 if self.op == "mul" else 2.0

    def window(self) -> Ramp:
        """Thesis, tables 4.2 and 5.4: epochs 30 to 40."""
        return Ramp(30.0 * self.epoch(), 40.0 * self.epoch())

    def facets(self) -> tuple[Facet, ...]:
        """How many results are wrong, rounded as the thesis rounds them, or as they are."""
        return (
            Facet({"accuracy": "exact"}, "test/wrong"),
            Facet({"accuracy": "5 decimals"}, "test/wrong_5dp"),
            Facet({"accuracy": "rounded"}, "test/wrong_rounded"),
            Facet({"accuracy": "whole digits"}, "test/wrong_whole"),
        )
