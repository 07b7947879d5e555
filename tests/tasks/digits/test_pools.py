"""The pictures of a split: none is in two of them, and what is left out is left out."""

import numpy as np
import pytest
import torch
from digit_batches import needs_mnist

from nalm.data import load_digits
from nalm.tasks.digits.pools import pool, shown, sorted_pool

SPLITS = ("train", "validation", "test")


def pictures(digits):
    return {image.tobytes() for image in digits.images.numpy()}


def test_one_in_twelve_training_images_validates():
    assert [len(pool("drawn", split)) for split in SPLITS] == [2_750, 250, 500]


@needs_mnist
def test_mnist_has_55_000_to_train_on_5_000_to_validate_on_and_10_000_to_test_on():
    assert [len(pool("mnist", split)) for split in SPLITS] == [55_000, 5_000, 10_000]


def test_no_picture_is_in_two_splits():
    held = [pictures(pool("drawn", split)) for split in SPLITS]
    assert len(set.union(*held)) == sum(map(len, held)) == 3_500


def test_the_last_training_images_validate():
    train = load_digits("drawn").train
    held = [pool("drawn", split) for split in ("train", "validation")]
    assert torch.equal(torch.cat([each.images for each in held]), train.images)
    assert torch.equal(torch.cat([each.labels for each in held]), train.labels)


@pytest.mark.parametrize("split", ["test", "test-longer"])
def test_every_test_set_shows_test_images(split):
    assert torch.equal(pool("drawn", split).images, load_digits("drawn").test.images)


@pytest.mark.parametrize("split", SPLITS)
def test_zeros_are_left_out_and_nothing_else(split):
    every, some = pool("drawn", split), pool("drawn", split, zeros=False)
    kept = every.labels.numpy() != 0
    assert (~kept).any()
    np.testing.assert_array_equal(some.labels.numpy(), every.labels.numpy()[kept])
    np.testing.assert_array_equal(some.images.numpy(), every.images.numpy()[kept])


def test_the_first_images_are_taken_where_there_is_a_most():
    every, some = pool("drawn", "test"), pool("drawn", "test", most=40)
    assert torch.equal(some.images, every.images[:40])
    assert torch.equal(some.labels, every.labels[:40])
    assert len(pool("drawn", "test", most=10_000)) == 500


@pytest.mark.parametrize("most", [None, 60])
def test_a_sorted_pool_has_each_label_in_one_piece_in_the_order_of_the_set(most):
    every = pool("drawn", "train", most=most)
    held, starts, counts = sorted_pool("drawn", "train", most)
    assert int(counts.sum()) == len(held) == len(every)
    for digit in range(10):
        own = slice(int(starts[digit]), int(starts[digit] + counts[digit]))
        wanted = every.labels == digit
        assert (held.labels[own] == digit).all()
        assert torch.equal(held.images[own], every.images[wanted])


def test_images_are_shown_with_brightness_from_0_to_1():
    images = torch.tensor([[0, 51, 255]], dtype=torch.uint8)
    assert shown(images, torch.float64).tolist() == [[0, 0.2, 1]]
    assert shown(images, torch.float32).dtype == torch.float32


def test_a_pool_is_made_once():
    assert pool("drawn", "test") is pool("drawn", "test")
