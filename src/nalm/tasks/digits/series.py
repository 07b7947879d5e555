"""Counting and adding series of ten digits, tested on up to 1000 (Trask et al. 2018, 4.2, appendix C).

The output after every digit is trained on, as Madsen & Johansen (2020, appendix D) do in what they call the
same task. Trask et al. ask for an output at the end of a series alone; trained on that for a few epochs,
neither the NAC nor the NAU learnt to keep a count in our trials (two and one), while the LSTM did.

The paper states neither optimiser, steps, batch, seeds nor sizes of states. Here: Adam with the rate 0.001,
batches of 64 series, 50 epochs; recurrent networks have 32 values of their own; the reader's ten outputs and
the state go into the unit side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from nalm.models.digit_networks import DigitSequence
from nalm.models.digit_readers import ExampleReader
from nalm.recipes import Ramp
from nalm.tasks._base import Facet
from nalm.tasks.digits.measures import CountedDigits, ErrorByLength, SequenceError
from nalm.tasks.digits.sequences import SequenceTask
from nalm.tasks.measures import Measure


@dataclass(frozen=True)
class MnistSeries(SequenceTask):
    """How often each digit occurs in a series (`count`), or their sum (`add`)."""

    op: str = "count"

    name = "mnist-series"
    ops = ("count", "add")
    models: ClassVar[tuple[str, ...]] = ("lstm", "gru", "rnn-tanh", "rnn-relu", "nac", "nalu", "nau")
    sequences: ClassVar[int] = 500
    epochs: ClassVar[int] = 50
    quick_epochs: ClassVar[int] = 5
    quick_learning_rate: ClassVar[float] = 4e-3

    @property
    def recipe_op(self) -> str:
        """To count is to add."""
        return "add"

    @property
    def results(self) -> int:  # type: ignore[override]
        """Ten counts or one sum."""
        return 10 if self.op == "count" else 1

    @property
    def out_features(self) -> int:  # type: ignore[override]
        """The results are the state."""
        return self.results

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """Ten values of the reader, and the state."""
        return ExampleReader.values + self.results

    @property
    def length(self) -> int:
        """Ten digits."""
        return 10

    @property
    def lengths(self) -> tuple[int, ...]:
        """Those of the paper's table 2."""
        return (1, 10, 100, 1000)

    @property
    def measures(self) -> tuple[Measure, ...]:  # type: ignore[override]
        """The error that is trained on, both errors by length, and what was read in series of length 1."""
        return (
            SequenceError(length=self.length, results=self.results),
            ErrorByLength("mse_by_length", self.lengths, 2, self.results),
            ErrorByLength("mae_by_length", self.lengths, 1, self.results),
            CountedDigits(results=self.results),
        )

    @property
    def target_shape(self) -> tuple[int, ...]:
        """The results after each digit of the longest series."""
        return (max(self.lengths), self.results)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The results after each digit of a series in training."""
        return (self.length, self.results)

    @property
    def dropout(self) -> float:
        """The part of the reader's values that dropout leaves out: none in a few epochs."""
        return 0.0 if self.is_quick else 0.5

    def network(self, unit: nn.Module) -> nn.Module:
        """The network of PyTorch's MNIST example, and the unit as its cell."""
        return DigitSequence(ExampleReader(self.dropout), unit, self.results, shows_readings=False)

    def answers(self, digits: Tensor) -> Tensor:
        """The counts, or the sum, after each digit."""
        if self.op == "add":
            return digits.cumsum(-1)[..., None]
        return torch.nn.functional.one_hot(digits.long(), 10).to(digits.dtype).cumsum(-2)

    def trained_part(self, outputs: Tensor) -> Tensor:
        """The results after every digit."""
        return outputs[:, :, : self.length].flatten(2)

    def penalty_strength(self) -> float:
        """Ours, for units that the paper does not have: that of running sums (`MnistSequential`)."""
        return 10.0

    def window(self) -> Ramp:
        """Ours: the third quarter of training."""
        return Ramp(0.5 * self.steps, 0.75 * self.steps)

    def facets(self) -> tuple[Facet, ...]:
        """One row of results per length."""
        return tuple(
            Facet({"length": length}, "test/mae_by_length", k) for k, length in enumerate(self.lengths)
        )
