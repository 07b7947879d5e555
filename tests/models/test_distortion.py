"""Digits that are rotated, scaled and placed in a larger image."""

import math

import numpy as np
import pytest
import torch
from scipy import ndimage
from torch.nn import functional

from nalm.models.distortion import distorted

AS_IT_IS = 0.6
"""The uniform number that gives scale 1."""


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def digits(*shape, dtype=torch.float64):
    """Random images with a blank margin of 4 pixels, like the digits of MNIST."""
    return functional.pad(torch.rand(*shape, 20, 20, dtype=dtype), (4, 4, 4, 4))


def uniform(angle=0.5, scale=AS_IT_IS, x=0.5, y=0.5):
    return torch.tensor([[angle, scale, x, y]], dtype=torch.float64)


def blob():
    """A round spot in the middle, with standard deviation 2.5 pixels."""
    weight = torch.exp(-(((torch.arange(28, dtype=torch.float64) - 13.5) / 2.5) ** 2) / 2)
    return (weight[:, None] * weight)[None]


def moments(image):
    """Standard deviation along x, and mean (x, y), both in pixels, of an image from its outer edge on."""
    along = torch.arange(len(image), dtype=torch.float64) + 0.5
    share = image / image.sum()
    x, y = (share.sum(0) @ along).item(), (share.sum(1) @ along).item()
    return math.sqrt(share.sum(0) @ (along - x) ** 2), [x, y]


def by_scipy(image, u, size):
    """The same by scipy, whose coordinates are (row, column) in pixels, 0 being the first one's centre."""
    angle, scale = math.radians(90 * u[0] - 45), 0.7 + 0.5 * u[1]
    slack = max(0.0, size - 28 * scale)
    place = np.array([slack * u[3] + (size - slack) / 2, slack * u[2] + (size - slack) / 2]) - 0.5
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) / scale
    offset = 13.5 - turn @ place
    return ndimage.affine_transform(
        image, turn, offset, output_shape=(size, size), order=1, mode="grid-constant"
    )


def test_a_digit_as_it_is_in_the_centre_is_padded():
    images = digits(3)
    torch.testing.assert_close(distorted(images, uniform()), functional.pad(images, (7, 7, 7, 7)))


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_places_reach_from_border_to_border(x, y):
    images = torch.rand(3, 28, 28, dtype=torch.float64)
    got = distorted(images, uniform(x=x, y=y))
    expected = functional.pad(images, (14 * x, 14 - 14 * x, 14 * y, 14 - 14 * y))
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("degrees", [-45, -20, 10, 45])
def test_rotation_is_anticlockwise_as_in_scipy(degrees):
    image = digits(1)
    padded = functional.pad(image[0], (7, 7, 7, 7)).numpy()
    expected = ndimage.rotate(padded, degrees, reshape=False, order=1)
    got = distorted(image, uniform(angle=(degrees + 45) / 90))[0]
    torch.testing.assert_close(got, torch.from_numpy(expected))


@pytest.mark.parametrize("size", [42, 33, 20])
def test_all_at_once_is_as_in_scipy(size):
    images, u = torch.rand(20, 28, 28, dtype=torch.float64), torch.rand(20, 4, dtype=torch.float64)
    expected = [by_scipy(image, each, size) for image, each in zip(images.numpy(), u.numpy())]
    torch.testing.assert_close(distorted(images, u, size), torch.from_numpy(np.stack(expected)))


@pytest.mark.parametrize(("u", "scale"), [(0, 0.7), (0.2, 0.8), (1, 1.2)])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (0.25, 1)])
def test_the_unrotated_box_lies_inside_the_image_at_every_scale(u, scale, x, y):
    spread, centre = moments(distorted(blob(), uniform(scale=u, x=x, y=y))[0])
    box = 28 * scale
    expected = [box / 2 + (42 - box) * along for along in (x, y)]
    assert centre == pytest.approx(expected, abs=0.01)
    assert spread == pytest.approx(2.5 * scale, rel=0.03)


def test_a_digit_that_does_not_fit_is_in_the_centre():
    image = digits(1)
    middle = distorted(image, uniform(), 20)
    torch.testing.assert_close(distorted(image, uniform(x=0.0, y=1.0), 20), middle)
    torch.testing.assert_close(middle, image[:, 4:-4, 4:-4])


def test_the_same_numbers_give_the_same_image():
    images, u = digits(5), torch.rand(5, 4, dtype=torch.float64)
    assert torch.equal(distorted(images, u), distorted(images, u))


def test_images_do_not_depend_on_each_other():
    images, u = digits(5), torch.rand(5, 4, dtype=torch.float64)
    alone = [distorted(image[None], each[None])[0] for image, each in zip(images, u)]
    torch.testing.assert_close(distorted(images, u), torch.stack(alone))


def test_leading_dimensions_are_kept_and_may_be_shared():
    images, u = digits(2, 3), torch.rand(3, 4, dtype=torch.float64)
    got = distorted(images, u)
    assert got.shape == (2, 3, 42, 42)
    torch.testing.assert_close(got, torch.stack([distorted(each, u) for each in images]))
    torch.testing.assert_close(distorted(images[0, 0], u), distorted(images[0, 0].expand(3, 28, 28), u))


def test_values_stay_between_zero_and_one_in_the_precision_of_the_images():
    got = distorted(digits(50, dtype=torch.float32), torch.rand(50, 4, dtype=torch.float64))
    assert got.dtype == torch.float32
    assert got.min() >= 0
    assert got.max() <= 1 + 1e-6
