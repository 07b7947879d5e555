"""Sets of pictures of digits, by name."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nalm.data import drawn, mnist
from nalm.errors import check_choice

_CHECKSUMS = {"mnist": mnist.CHECKSUM, "drawn": drawn.CHECKSUM}


@dataclass(frozen=True, eq=False)
class Digits:
    """Pictures of single digits.

    Attributes:
        images: uint8, `n x 28 x 28`, bright ink on a dark ground.
        labels: int64, `n`, from 0 to 9.
    """

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class DigitSets:
    """What is there to train on and to test on.

    Attributes:
        train: the pictures for training, from which those for validation are taken as well.
        test: the pictures for testing.
        checksum: identifies the data; the same wherever they come from.
    """

    train: Digits
    test: Digits
    checksum: str


def checksum_of(name: str) -> str:
    """What identifies a set of digits, without reading it."""
    return _CHECKSUMS[check_choice("name", name, _CHECKSUMS)]


def load_digits(name: str = "mnist") -> DigitSets:
    """A set of digits; a second call in this process returns the same tensors, which are not to be changed.

    Args:
        name: `mnist`, 60,000 and 10,000 handwritten digits from the folder that the environment variable
            NALM_DATA names, else from the user's cache, into which they are downloaded if need be; or
            `drawn`, 3,000 and 500 digits that are made here.
    """
    check_choice("name", name, _CHECKSUMS)
    return _mnist(mnist.place()) if name == "mnist" else _drawn()


@functools.cache
def _mnist(place: mnist.Place) -> DigitSets:
    return _sets(*mnist.load(place), checksum=mnist.CHECKSUM)


@functools.cache
def _drawn() -> DigitSets:
    return _sets(*drawn.make(), checksum=drawn.CHECKSUM)


def _sets(
    train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray, checksum: str
) -> DigitSets:
    return DigitSets(_digits(train, train_labels), _digits(test, test_labels), checksum)


def _digits(images: np.ndarray, labels: np.ndarray) -> Digits:
    return Digits(torch.from_numpy(images), torch.from_numpy(labels).long())
