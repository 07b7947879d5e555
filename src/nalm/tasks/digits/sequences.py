"""Sequences of digits: what the sequential tasks of all papers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from nalm.tasks._base import Numbers, Split
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.digits.pools import pool, shown


@dataclass(frozen=True)
class SequenceTask(DigitTask):
    """Base of tasks on sequences of digits, trained on one length and tested on many.

    A training batch draws its images with replacement. In evaluation every image of the split is read once,
    and `sequences` of the longest length are drawn from them; their beginnings are the shorter sequences.
    """

    zeros: ClassVar[bool] = True
    quick_epochs: ClassVar[int]
    sequences: ClassVar[int] = 500

    @property
    def length(self) -> int:
        """The length of sequences in training."""
        raise NotImplementedError

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths to test on."""
        raise NotImplementedError

    def answers(self, digits: Tensor) -> Tensor:
        """What a network should say: digits `models x n x length` to targets `models x n x length x …`."""
        raise NotImplementedError

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Images of one sequence of training."""
        return (self.length, 28, 28)

    def draws_in(self, split: str) -> int:
        """One number per digit."""
        return self.length if split == Split.TRAIN else max(self.lengths)

    @property
    def draws(self) -> int:
        """One number per digit of a sequence in training."""
        return self.length

    def samples(self, split: str) -> int:
        """The number of sequences."""
        return self.sequences

    def block(self, split: str) -> int:
        """All of them: they share their images."""
        return self.sequences

    def epoch(self) -> int:
        """Steps in which as many digits are drawn as there are."""
        digits = 55_000 if self.digits == "mnist" else len(pool(self.digits, Split.TRAIN).labels)
        return max(1, digits // (self.length * self.batch_size))

    @property
    def quick_steps(self) -> int:  # type: ignore[override]
        """A few epochs."""
        return self.quick_epochs * self.epoch()

    @property
    def images_per_step(self) -> int:  # type: ignore[override]
        """The images of a batch."""
        return self.length * self.batch_size

    def constants(self, split: str) -> dict[str, Tensor]:
        """The images of the split and their labels."""
        held = pool(self.digits, split, zeros=self.zeros)
        return {"images": held.images, "labels": held.labels}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x length x 28 x 28`; in evaluation all images of the split, and an index."""
        images, labels = numbers["images"], numbers["labels"]
        index = (u * len(labels)).long().transpose(1, 2)
        targets = self.answers(labels[index].to(u.dtype))
        if "block" not in numbers:
            return shown(images[index], u.dtype), targets
        models = torch.ones_like(u[:, :1, :1, None])
        return (models * shown(images, u.dtype), index), targets
