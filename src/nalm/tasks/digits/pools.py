"""The pictures that a split of a task draws from."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from nalm.data import Digits, load_digits
from nalm.tasks._base import Split

HELD_OUT = 12
"""One in this many training images, the last ones, validates: 5,000 of MNIST's 60,000."""


@functools.lru_cache(maxsize=16)
def pool(name: str, split: str, *, zeros: bool = True, most: int | None = None) -> Digits:
    """The digits of a split: the last training images for validation, the test images for every test set.

    Args:
        name: the data set, see `nalm.data.load_digits`.
        split: the split.
        zeros: whether zeros are among them.
        most: the most images, the first of the split; None for all.
    """
    sets = load_digits(name)
    held = len(sets.train.labels) // HELD_OUT
    if split == Split.TRAIN:
        images, labels = sets.train.images[:-held], sets.train.labels[:-held]
    elif split == Split.VALIDATION:
        images, labels = sets.train.images[-held:], sets.train.labels[-held:]
    else:
        images, labels = sets.test.images, sets.test.labels
    if not zeros:
        images, labels = images[labels != 0], labels[labels != 0]
    return Digits(images[:most], labels[:most])


@functools.lru_cache(maxsize=16)
def sorted_pool(name: str, split: str, most: int | None = None) -> tuple[Digits, Tensor, Tensor]:
    """The digits of a split sorted by label, with the place of the first of each label and their numbers."""
    held = pool(name, split, most=most)
    order = held.labels.argsort(stable=True)
    counts = torch.bincount(held.labels, minlength=10)
    return Digits(held.images[order], held.labels[order]), counts.cumsum(0) - counts, counts


def shown(images: Tensor, dtype: torch.dtype) -> Tensor:
    """Images as networks see them: brightness from 0 to 1."""
    return images.to(dtype) / 255
