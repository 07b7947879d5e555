r"""Digits that are rotated, scaled and placed in a larger image: the RTS data of Jaderberg et al.

A pixel of the image with its centre at :math:`p`, measured in pixels from the centre of the image (x to the
right, y downwards), shows the digit at :math:`q`, measured from the digit's centre:

.. math:: q = \frac{1}{s}\, R(-\theta)\, (p - c)

with angle :math:`\theta`, anticlockwise as seen, scale :math:`s` and place :math:`c`, all uniform:

.. math:: \theta \in [-45°, 45°], \qquad s \in [0.7, 1.2], \qquad |c_x|, |c_y| \le \max(0, (S - 28 s) / 2)

where :math:`S` is the width of the image: before it is rotated, the digit's box lies inside the image.

Jaderberg et al. 2015, appendix A.4; thesis, appendix E.4.2. Neither says what "a random location" excludes:
the bound on the place is ours. A rotated box may reach over the border with its corners, which are nearly
always blank in MNIST. Digits are not smoothed before they are made smaller.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

ANGLE = math.pi / 4
"""The largest rotation either way."""
SCALES = (0.7, 1.2)
"""The smallest and the largest scale."""


def distorted(images: Tensor, u: Tensor, size: int = 42) -> Tensor:
    """Rotate, scale and place digits: `... x 28 x 28` to `... x size x size`, bilinear between pixels.

    Args:
        images: square digits in [0, 1] on a background of 0, which is what surrounds them afterwards.
        u: uniform numbers in [0, 1] for angle, scale, place along x and place along y, `... x 4`.
        size: height and width of the results.
    """
    # Neither digits nor numbers need be repeated by the caller: one of them may lack leading dimensions.
    batch, width = torch.broadcast_shapes(images.shape[:-2], u.shape[:-1]), images.shape[-1]
    flat = images.expand(*batch, width, width).reshape(-1, 1, width, width)
    maps = _maps(u, width, size).to(images.dtype).expand(*batch, 2, 3).reshape(-1, 2, 3)
    # With align_corners=False, -1 and 1 are the outer edges of pixels, so that widths are whole pixels.
    grid = functional.affine_grid(maps, [len(flat), 1, size, size], align_corners=False)
    placed = functional.grid_sample(flat, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return placed.reshape(*batch, size, size)


def _maps(u: Tensor, width: int, size: int) -> Tensor:
    """The affine maps `... x 2 x 3` from places in the result to places in the digit, both in [-1, 1]."""
    angle = ANGLE * (2 * u[..., 0] - 1)
    scale = SCALES[0] + (SCALES[1] - SCALES[0]) * u[..., 1]
    centre = (2 * u[..., 2:] - 1) * (size - width * scale).clamp(min=0)[..., None] / 2
    cos, sin = torch.cos(angle), torch.sin(angle)
    # y points downwards, which turns the usual signs of the sine: this undoes an anticlockwise rotation.
    back = torch.stack([cos, -sin, sin, cos], -1).unflatten(-1, (2, 2)) / scale[..., None, None]
    shift = -(back @ centre[..., None])
    return torch.cat([back * size, shift * 2], -1) / width
