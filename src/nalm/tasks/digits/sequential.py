"""Sequential MNIST: the running product or sum of digits (Madsen & Johansen 2020, 4.2 and D; thesis, 4.6.2).

Products are trained on two digits from 1 to 9 and tested on up to 20; sums are trained on ten digits and
tested on up to 1000. The error of every output of a sequence is trained on.

Deviations: the papers draw batches without replacement; here an epoch is as many batches as there are images
for, drawn with replacement. Test sequences are drawn with replacement too, and shorter ones are the
beginnings of longer ones; the error of a length is that of the last output, where one public program takes
all outputs. The LSTM has 32 values of its own and a linear read-out. Strengths of penalties are known from
public scripts alone; the thesis has the window for products only, and sums end before theirs does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from nalm.models.digit_networks import DigitSequence
from nalm.models.digit_readers import READERS
from nalm.recipes import InputIdentity, Ramp, Recipe, UnitPenalty
from nalm.tasks._base import Facet
from nalm.tasks.digits.measures import ErrorByLength, ReadDigits, SequenceError
from nalm.tasks.digits.sequences import SequenceTask
from nalm.tasks.measures import Measure


@dataclass(frozen=True)
class MnistSequential(SequenceTask):
    """The running product or sum of a sequence of digits.

    The network reads each digit as one number; the unit computes the next state from it and the state.

    Attributes:
        reader: the network that reads a digit, one of `nalm.models.digit_readers.READERS`.
    """

    reader: str = "regression"

    name = "mnist-sequential"
    ops = ("mul", "add")
    models: ClassVar[tuple[str, ...]] = (
        *("nmu", "snmu", "snmu(noise=batch)", "nac-mul", "nac-mul(weight=sigmoid)"),
        *("nac-mul(weight=linear)", "nau", "nac", "nalu", "lstm"),
    )
    sequences: ClassVar[int] = 5000
    in_features = 2

    @property
    def zeros(self) -> bool:  # type: ignore[override]
        """A product with a zero would tell nothing of the other digits."""
        return self.op == "add"

    @property
    def reference(self) -> str:  # type: ignore[override]
        """The model whose arithmetic is solved."""
        return self.op

    @property
    def quick_epochs(self) -> int:  # type: ignore[override]
        """Sums are learnt from ten digits at once."""
        return 12 if self.op == "mul" else 4

    @property
    def length(self) -> int:
        """Two digits for products, ten for sums."""
        return 2 if self.op == "mul" else 10

    @property
    def lengths(self) -> tuple[int, ...]:
        """Those of Madsen & Johansen's figures 4 and 13."""
        return tuple(range(1, 21)) if self.op == "mul" else (1, 10, *range(100, 1001, 100))

    @property
    def measures(self) -> tuple[Measure, ...]:  # type: ignore[override]
        """The error that is trained on, the error by length, and what was read."""
        by_length = ErrorByLength(lengths=self.lengths)
        return (SequenceError(length=self.length), by_length, ReadDigits())

    @property
    def target_shape(self) -> tuple[int, ...]:
        """Of each digit of the longest sequence: the result so far, and its label."""
        return (max(self.lengths), 2)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Of each digit of a sequence in training: the result so far, and what was read."""
        return (self.length, 2)

    def network(self, unit: nn.Module) -> nn.Module:
        """The thesis's network for regression (figure E.4) and the unit as its cell."""
        return DigitSequence(READERS[self.reader](), unit, 1, start=float(self.op == "mul"))

    def answers(self, digits: Tensor) -> Tensor:
        """The running product or sum, and the labels."""
        # In float64: a product of twenty digits has more than float32 holds.
        exact = digits.double()
        so_far = exact.cumprod(-1) if self.op == "mul" else exact.cumsum(-1)
        return torch.stack([so_far.to(digits.dtype), digits], -1)

    def trained_part(self, outputs: Tensor) -> Tensor:
        """The result after every digit."""
        return outputs[..., 0]

    def penalty_strength(self) -> float:
        """That of the public program."""
        return 10.0

    def window(self) -> Ramp:
        """Thesis, table 4.3."""
        return Ramp(10e3, 100e3)

    def adapt(self, recipe: Recipe) -> Recipe:
        """With R_z for units with a penalty of their own, whose weights should be 1."""
        made = super().adapt(recipe)
        if not any(isinstance(each, UnitPenalty) for each in made.penalties):
            return made
        r_z = InputIdentity(1.0, identity=float(self.op == "mul"))
        return replace(made, penalties=(*made.penalties, r_z))

    def facets(self) -> tuple[Facet, ...]:
        """One row of results per length."""
        return tuple(
            Facet({"length": length}, "test/mse_by_length", k) for k, length in enumerate(self.lengths)
        )
