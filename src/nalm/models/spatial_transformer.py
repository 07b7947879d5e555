r"""A spatial transformer: a network chooses which part of an image is looked at, and straightens it.

A localisation network gives a source point :math:`c_k` in the image for each of :math:`K` target points
:math:`c'_k`, which lie on a regular grid over the output. A thin plate spline, the map of least bending with
:math:`f(c'_k) = c_k`, says for each pixel :math:`p'` of the output where in the image it is read:

.. math::
    f(p') = a_0 + a_1 x' + a_2 y' + \sum_k b_k\, \phi(\lVert p' - c'_k \rVert), \qquad
    \phi(d) = d^2 \ln d^2, \qquad \sum_k b_k = \sum_k b_k x'_k = \sum_k b_k y'_k = 0

With rows :math:`r(p') = (1, x', y', \phi(\lVert p' - c'_1 \rVert), \dots)` and
:math:`\Delta = \bigl(r(c'_1); \dots; r(c'_K);\ 0\ \ (1, x', y')^\top\bigr)`, the coefficients are
:math:`\Delta^{-1} (c; 0)`. Target points are fixed, so that all pixels are one fixed matrix times the source
points: :math:`f(p') = \bigl(r(p')\, \Delta^{-1}\bigr)_{1 \dots K}\; c`.

Bookstein 1989; Jaderberg et al. 2015; Shi et al. 2016, section 3.1.2; thesis, section 4.6.1.2 and appendix
E.4.2.

Coordinates are (x, y) in [-1, 1], where -1 and 1 are the centres of the outermost pixels
(`align_corners=True`), both in the output and in the image, so that target points on the border are pixels.
What lies outside the image is 0.

Deviations: the thesis states neither the places of the target points nor the values that the localisation
network starts from. Target points are a regular grid that reaches the border, as those of Shi et al. do. The
last layer starts with weights 0, as Shi et al. advise, and gives the regular grid shrunk by `START`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from nalm.errors import ArgumentError

START = 0.9
"""Where the outermost source points start. Tanh reaches 1 nowhere and hardly learns close to it; what is cut
off, 2 pixels of 42, is blank as a rule: digits of MNIST have a margin of about 4 pixels of 28, 2.8 scaled."""

Device = torch.device | str | None


def regular_grid(rows: int, columns: int) -> Tensor:
    """Points (x, y) spaced evenly over [-1, 1]², with its border, row by row: `rows*columns x 2`, float64."""
    y, x = (torch.linspace(-1, 1, count, dtype=torch.float64) for count in (rows, columns))
    return torch.cartesian_prod(y, x).flip(-1)


def spline_weights(targets: Tensor, places: Tensor) -> Tensor:
    """The matrix `m x k` that, times source points `k x 2`, gives the spline at the places.

    Args:
        targets: points that the spline maps to the source points, `k x 2`; not all on one line.
        places: where the spline is evaluated, `m x 2`.
    """
    rows = _rows(targets, targets)
    conditions = functional.pad(rows[:, :3].T, (3, 0))
    system = torch.cat([rows, conditions])
    solved: Tensor = torch.linalg.solve(system, _rows(places, targets), left=False)
    return solved[:, : len(targets)]


def _rows(places: Tensor, targets: Tensor) -> Tensor:
    """(1, x, y, φ of the distance to each target) for each place, `m x (3 + k)`."""
    squared = (places[:, None] - targets).square().sum(-1)
    return torch.cat([torch.ones_like(places[:, :1]), places, torch.xlogy(squared, squared)], -1)


class ThinPlateSpline(nn.Module):
    """Where each pixel of the output is read, given the source points.

    Args:
        points_per_side: target points along each side of their regular grid.
        size: height and width of the output.
        device: where the matrix lives.
        dtype: its precision. It is computed in float64; a later `.to(float64)` does not restore its digits.
    """

    weights: Tensor

    def __init__(
        self,
        points_per_side: int = 4,
        size: Sequence[int] = (21, 21),
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.points_per_side = _check_two("points_per_side", points_per_side)
        self.height, self.width = (_check_two("size", length) for length in size)
        targets = regular_grid(points_per_side, points_per_side)
        weights = spline_weights(targets, regular_grid(self.height, self.width))
        # Not persistent: it follows from the arguments and is nothing that was learnt.
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("weights", weights.to(device=device, dtype=dtype), persistent=False)

    def forward(self, source: Tensor) -> Tensor:
        """Source points `... x k x 2` to a sampling grid `... x height x width x 2`."""
        # functional_call may be given parameters of another precision than that of the buffer.
        return (self.weights.to(source.dtype) @ source).unflatten(-2, (self.height, self.width))


class ControlPoints(nn.Linear):
    """A linear layer to the coordinates of source points before tanh; it starts at the regular grid."""

    def reset_parameters(self) -> None:
        """Weights 0, and biases whose tanh is the regular grid times `START`."""
        side = math.isqrt(self.out_features // 2)
        with torch.no_grad():
            self.weight.zero_()
            self.bias.copy_(torch.atanh(START * regular_grid(side, side)).flatten())


class Localisation(nn.Module):
    """From images to 16 source points, the network of the thesis's figure E.2.

    The figure has no activation between the linear layers, and there is none here. Tanh, which it does not
    list either, is in the text.
    """

    def __init__(self, *, device: Device = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.AvgPool2d(2),
            nn.Conv2d(2, 20, 5, device=device, dtype=dtype),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(20, 20, 5, device=device, dtype=dtype),
            nn.ReLU(),
            nn.Flatten(-3),
            nn.Linear(320, 32, device=device, dtype=dtype),
            ControlPoints(32, 32, device=device, dtype=dtype),
            nn.Tanh(),
        )

    def forward(self, images: Tensor) -> Tensor:
        """`n x 2 x 42 x 42` to `n x 16 x 2`."""
        points: Tensor = self.layers(images)
        return points.unflatten(-1, (-1, 2))


class SpatialTransformer(nn.Module):
    """Images, straightened by a thin plate spline whose source points a network finds in them.

    Args:
        localisation: a network from images `n x channels x ...` to source points `n x points_per_side² x 2`.
        out_size: height and width of the output. The first convolution of figure E.3 gives 19 x 19, which
            makes it 21 x 21.
        points_per_side: target points along each side of their regular grid.
        device: where the spline lives.
        dtype: precision of the spline.
    """

    def __init__(
        self,
        localisation: nn.Module,
        out_size: Sequence[int] = (21, 21),
        *,
        points_per_side: int = 4,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.localisation = localisation
        self.spline = ThinPlateSpline(points_per_side, out_size, device=device, dtype=dtype)

    def forward(self, images: Tensor) -> Tensor:
        """`n x channels x ...` to `n x channels x height x width`."""
        grid: Tensor = self.spline(self.localisation(images))
        return functional.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=True)


def _check_two(argument: str, got: int) -> int:
    if isinstance(got, bool) or not isinstance(got, int) or got < 2:
        raise ArgumentError(argument, "made of whole numbers from 2 on", repr(got))
    return got
