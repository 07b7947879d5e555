"""Sequences of digits: what the sequential tasks of all papers share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

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

    Attributes:
        few: the number of images that a batch of training shows, from which its sequences are drawn; None
            gives every sequence its own. Fewer images make a step several times faster, at the price of
            gradients that vary more and of images that sometimes meet themselves.
    """

    few: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_few("few", self.few, 1)

    has_sequences: ClassVar[bool] = True
    zeros: ClassVar[bool] = True
    quick_epochs: ClassVar[int]
    quick_images: ClassVar[int] = 32
    quick_batch_size: ClassVar[int] = 256
    sequences: ClassVar[int] = 500

    @property
    def length(self) -> int:
        """The length of sequences in training."""
        raise NotImplementedError

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths to test on."""
        raise NotImplementedError

    @property
    def input_names(self) -> list[str]:
        """What the unit takes: the values of the reader, and the state before."""
        values = self.in_features - self.out_features
        readings = ["digit"] if values == 1 else [f"digit{k}" for k in range(values)]
        states = ["state"] if self.out_features == 1 else [f"state{k}" for k in range(self.out_features)]
        return [*readings, *states]

    def answers(self, digits: Tensor) -> Tensor:
        """What a network should say: digits `models x n x length` to targets `models x n x length x …`."""
        raise NotImplementedError

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Images of one sequence of training."""
        return (self.length, 28, 28)

    def draws_in(self, split: str) -> int:
        """One number per digit."""
        return self.draws if split == Split.TRAIN else max(self.lengths)

    @property
    def draws(self) -> int:
        """One number per digit of a sequence in training, and one for images of a batch that shows few."""
        return self.length + (self.few is not None)

    def samples(self, split: str) -> int:
        """The number of sequences."""
        return self.sequences

    def block(self, split: str) -> int:
        """All of them: they share their images."""
        return self.sequences

    def epoch(self) -> int:
        """Steps in which as many digits are drawn as there are, zeros included (thesis, table 4.3)."""
        digits = 55_000 if self.digits == "mnist" else len(pool(self.digits, Split.TRAIN).labels)
        return max(1, digits // self.images_per_step)

    @property
    def quick_steps(self) -> int:  # type: ignore[override]
        """A few epochs."""
        return self.quick_epochs * self.epoch()

    @property
    def images_per_step(self) -> int:  # type: ignore[override]
        """The images of a batch."""
        samples = self.quick_batch_size if self.is_quick else self.batch_size
        return self.length * samples if self.few is None else self.few

    def reduced(self) -> Self:
        """With many sequences of few images per batch."""
        return replace(super().reduced(), few=self.quick_images)

    def constants(self, split: str) -> dict[str, Tensor]:
        """The images of the split and their labels."""
        held = pool(self.digits, split, zeros=self.zeros)
        return {"images": held.images, "labels": held.labels}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Any, Tensor]:
        """Images `models x n x length x 28 x 28`; in evaluation all images of the split, and an index."""
        images, labels = numbers["images"], numbers["labels"]
        if "block" in numbers:
            index = (u * len(labels)).long().transpose(1, 2)
            all_images = torch.ones_like(u[:, :1, :1, None]) * shown(images, u.dtype)
            return (all_images, index), self.answers(labels[index].to(u.dtype))
        if self.few is None:
            index = (u * len(labels)).long().transpose(1, 2)
            return shown(images[index], u.dtype), self.answers(labels[index].to(u.dtype))
        picked = (u[:, -1, : self.few] * len(labels)).long()
        index = (u[:, :-1] * self.few).long().transpose(1, 2)
        digits = torch.stack([labels[own][at] for own, at in zip(picked, index)])
        return (shown(images[picked], u.dtype), index), self.answers(digits.to(u.dtype))
