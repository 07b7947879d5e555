"""Drawn digits: the same everywhere, balanced, and like each other by digit."""

import hashlib

import numpy as np
import pytest
import torch

from nalm.data import Digits, DigitSets, checksum_of, drawn, load_digits
from nalm.errors import ArgumentError


@pytest.fixture(scope="module")
def made():
    return load_digits("drawn")


def test_there_are_3000_to_train_on_and_500_to_test_on(made):
    assert isinstance(made, DigitSets)
    for digits, n in ((made.train, 3_000), (made.test, 500)):
        assert isinstance(digits, Digits)
        assert len(digits) == n
        assert digits.images.shape == (n, 28, 28)
        assert digits.images.dtype == torch.uint8
        assert digits.labels.dtype == torch.int64


def test_there_are_equally_many_of_each_digit_in_no_order(made):
    for digits in (made.train, made.test):
        assert digits.labels.bincount().tolist() == [len(digits) // 10] * 10
        assert digits.labels[:100].bincount(minlength=10).unique().numel() > 1


def test_every_pixel_is_the_same_on_every_computer(made):
    digest = hashlib.sha256()
    for digits in (made.train, made.test):
        digest.update(digits.images.numpy().tobytes())
        digest.update(digits.labels.to(torch.uint8).numpy().tobytes())
    assert digest.hexdigest()[:16] == drawn.CHECKSUM == made.checksum == checksum_of("drawn")


def test_no_picture_is_there_twice(made):
    pictures = torch.cat([made.train.images, made.test.images]).flatten(1)
    assert len(pictures.unique(dim=0)) == 3_500


def test_ink_is_bright_on_dark_ground_and_pictures_differ_in_contrast(made):
    brightest = made.train.images.flatten(1).amax(1)
    assert brightest.min() > 120
    assert brightest.max() == 255
    assert (made.train.images < 64).float().mean() > 0.7


def test_a_picture_shows_its_label(made):
    """The nearest picture for training mostly is of the same digit; by chance it is for one in ten."""
    seen, new = (digits.images.flatten(1).float() / 255 for digits in (made.train, made.test))
    nearest = torch.cdist(new, seen).argmin(1)
    assert (made.train.labels[nearest] == made.test.labels).float().mean() > 0.9


def test_corners_that_lines_share_are_one_corner():
    for lines in drawn._LINES:
        glyph = drawn._glyph(lines)
        assert len(np.unique(glyph.corners, axis=0)) == len(glyph.corners)
        assert {corner for stroke in glyph.strokes for corner in stroke} == set(range(len(glyph.corners)))


def test_they_are_made_once_per_process(made):
    assert load_digits("drawn") is made


@pytest.mark.parametrize("ask", [load_digits, checksum_of])
def test_an_unknown_name_is_refused_with_the_nearest(ask):
    with pytest.raises(
        ArgumentError, match=r"must be one of mnist, drawn, but got 'minst'\. Did you mean 'mnist'"
    ):
        ask("minst")
