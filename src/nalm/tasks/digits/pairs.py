"""Pairs of digits in folds: no pair of the test set is ever trained on, although each of its digits is."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import torch
from torch import Tensor

from nalm.tasks._base import Numbers

Pairs = list[tuple[int, int]]


@functools.cache
def fold_pairs(fold: int, folds: int, *, zeros: bool = True, validation: int = 0) -> dict[str, Pairs]:
    """Ordered pairs of digits by "train", "validation" and "test", which have none in common.

    Args:
        fold: the part of all pairs that is tested on.
        folds: the number of parts.
        zeros: whether zero is one of the digits.
        validation: the number of pairs to validate on.
    """
    digits = range(0 if zeros else 1, 10)
    pairs = list(itertools.product(digits, digits))
    order = np.random.default_rng(0).permutation(len(pairs))
    first, last = (round(k * len(pairs) / folds) for k in (fold, fold + 1))
    turned = [pairs[k] for k in np.roll(order, -first)]
    tested, rest = turned[: last - first], turned[last - first :]
    return {"train": rest[validation:], "validation": rest[:validation], "test": tested}


def picked_digits(u: Tensor, pairs: Tensor) -> Tensor:
    """One of the pairs `models x pairs x 2` for each uniform number `models x n`: digits `models x n x 2`."""
    chosen = (u * pairs.shape[1]).long()
    return torch.stack([own[k] for own, k in zip(pairs, chosen)])


def picked_images(u: Tensor, digits: Tensor, numbers: Numbers) -> Tensor:
    """An image of each digit: its index in a pool that is sorted by label, see `pools.sorted_pool`."""
    return numbers["starts"][digits] + (u * numbers["counts"][digits]).long()
