"""The spatial transformer: a thin plate spline, and the network that finds its points."""

import copy

import pytest
import torch
from scipy.interpolate import RBFInterpolator
from torch import nn
from torch.func import functional_call, vmap
from torch.nn import functional

from nalm.errors import ArgumentError
from nalm.models.spatial_transformer import (
    START,
    ControlPoints,
    Localisation,
    SpatialTransformer,
    ThinPlateSpline,
    regular_grid,
    spline_weights,
)


class Fixed(nn.Module):
    """A localisation network that finds the same points in every image."""

    def __init__(self, points):
        super().__init__()
        self.points = nn.Parameter(points)

    def forward(self, images):
        return self.points.expand(len(images), *self.points.shape)


def near_grid(*shape, side=4):
    """Source points around the regular grid, `*shape x side² x 2`."""
    return regular_grid(side, side) + 0.2 * torch.randn(*shape, side * side, 2, dtype=torch.float64)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


# -- the spline ----------------------------------------------------------------------------------


def test_the_grid_goes_row_by_row_with_x_first():
    assert regular_grid(2, 3).tolist() == [[-1, -1], [0, -1], [1, -1], [-1, 1], [0, 1], [1, 1]]


@pytest.mark.parametrize("jitter", [0.0, 0.3])
def test_the_spline_is_that_of_scipy(jitter):
    targets = regular_grid(4, 4) + jitter * torch.randn(16, 2, dtype=torch.float64)
    sources = torch.randn(len(targets), 2, dtype=torch.float64)
    places = 2 * torch.randn(50, 2, dtype=torch.float64)
    reference = RBFInterpolator(targets, sources, kernel="thin_plate_spline", degree=1, smoothing=0)
    got = spline_weights(targets, places) @ sources
    torch.testing.assert_close(got, torch.from_numpy(reference(places)))


def test_pixels_that_are_target_points_are_read_at_the_source_points():
    source = near_grid(3)
    grid = ThinPlateSpline(4, (7, 7), dtype=torch.float64)(source)  # every other pixel is a target point
    torch.testing.assert_close(grid[:, ::2, ::2], source.reshape(3, 4, 4, 2))


def test_an_affine_map_of_the_points_is_the_same_map_of_all_pixels():
    theta = torch.randn(3, 2, 3, dtype=torch.float64)
    targets = regular_grid(4, 4)
    source = targets @ theta[:, :, :2].mT + theta[:, None, :, 2]
    expected = functional.affine_grid(theta, [3, 1, 6, 9], align_corners=True)
    torch.testing.assert_close(ThinPlateSpline(4, (6, 9), dtype=torch.float64)(source), expected)


def test_float32_is_precise():
    source = near_grid(5)
    exact = ThinPlateSpline(dtype=torch.float64)(source)
    torch.testing.assert_close(ThinPlateSpline()(source.float()).double(), exact, atol=2e-6, rtol=0)


def test_the_grid_has_the_right_gradient():
    source = near_grid(2).requires_grad_()
    assert torch.autograd.gradcheck(ThinPlateSpline(4, (5, 6), dtype=torch.float64), source)


def test_models_may_have_an_axis_of_their_own():
    spline, source = ThinPlateSpline(dtype=torch.float64), near_grid(2, 3)
    torch.testing.assert_close(spline(source), torch.stack([spline(each) for each in source]))
    torch.testing.assert_close(spline(source), vmap(spline)(source))


def test_the_matrix_is_not_stored_with_what_was_learnt():
    assert not ThinPlateSpline().state_dict()
    assert not list(ThinPlateSpline().parameters())


@pytest.mark.parametrize("arguments", [{"points_per_side": 1}, {"size": (1, 21)}, {"size": (21, 2.0)}])
def test_impossible_sizes_are_refused(arguments):
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        ThinPlateSpline(**arguments)


# -- the transformer -----------------------------------------------------------------------------


def test_points_on_the_regular_grid_resample_the_image():
    images = torch.randn(3, 2, 42, 42, dtype=torch.float64)
    transformer = SpatialTransformer(Fixed(regular_grid(4, 4)), dtype=torch.float64)
    expected = functional.interpolate(images, size=(21, 21), mode="bilinear", align_corners=True)
    torch.testing.assert_close(transformer(images), expected)


def test_what_lies_outside_the_image_is_zero():
    images = torch.ones(1, 1, 21, 21, dtype=torch.float64)
    transformer = SpatialTransformer(Fixed(regular_grid(4, 4) + 1), dtype=torch.float64)
    got = transformer(images)[0, 0]  # one half of a side to the right and downwards
    torch.testing.assert_close(got[:10, :10], torch.ones(10, 10, dtype=torch.float64))
    assert not got[12:].any()
    assert not got[:, 12:].any()


def test_an_image_has_the_right_gradient_with_respect_to_the_points():
    images = torch.randn(2, 1, 8, 8, dtype=torch.float64)
    transformer = SpatialTransformer(
        Fixed(0.8 * near_grid(side=2)), (4, 5), points_per_side=2, dtype=torch.float64
    )

    def transformed(points):
        return functional_call(transformer, {"localisation.points": points}, (images,))

    assert torch.autograd.gradcheck(transformed, transformer.localisation.points)


def test_every_channel_is_read_at_the_same_places():
    images = torch.randn(3, 1, 42, 42).expand(3, 2, 42, 42)
    transformer = SpatialTransformer(Localisation())
    nn.init.normal_(transformer.localisation.layers[-2].weight)
    got = transformer(images)
    torch.testing.assert_close(got[:, 0], got[:, 1])


# -- the localisation network --------------------------------------------------------------------


def test_the_localisation_network_is_that_of_figure_e2():
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in Localisation().layers]
    assert [size for size in sizes if size] == [1_020, 10_020, 10_272, 1_056]


def test_the_layers_give_the_shapes_of_figure_e2():
    x, shapes = torch.randn(5, 2, 42, 42), []
    for layer in Localisation().layers:
        x = layer(x)
        shapes.append(tuple(x.shape[1:]))
    pooled, inner, outer = (20, 8, 8), (20, 17, 17), (20, 4, 4)
    assert shapes == [(2, 21, 21), inner, inner, pooled, outer, outer, (320,), (32,), (32,), (32,)]


def test_there_are_sixteen_points_within_the_image():
    network = Localisation()
    nn.init.normal_(network.layers[-2].weight)
    points = network(10 * torch.randn(5, 2, 42, 42))
    assert points.shape == (5, 16, 2)
    assert points.abs().max() <= 1


def test_the_network_starts_from_the_regular_grid_a_little_shrunk():
    points = Localisation(dtype=torch.float64)(torch.randn(5, 2, 42, 42, dtype=torch.float64))
    torch.testing.assert_close(points, (START * regular_grid(4, 4)).expand(5, 16, 2))


def test_the_start_can_be_drawn_again():
    layer = ControlPoints(32, 32)
    start = copy.deepcopy(layer.state_dict())
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    layer.reset_parameters()
    torch.testing.assert_close(layer.state_dict(), start)


def test_gradients_reach_the_last_layer_first_and_then_all_others():
    transformer, images = SpatialTransformer(Localisation()), torch.randn(3, 2, 42, 42)
    transformer(images).square().sum().backward()
    last = transformer.localisation.layers[-2]
    assert last.weight.grad.any()
    assert last.bias.grad.any()
    with torch.no_grad():
        last.weight -= 1e-3 * last.weight.grad
    transformer(images).square().sum().backward()
    assert all(p.grad.any() for p in transformer.parameters())


def test_parameters_may_be_given_in_another_precision():
    transformer, images = SpatialTransformer(Localisation()), torch.randn(2, 2, 42, 42)
    given = {name: p.detach().double() for name, p in transformer.named_parameters()}
    got = functional_call(transformer, given, (images.double(),))
    assert got.dtype == torch.float64
    torch.testing.assert_close(got.float(), transformer(images), atol=1e-4, rtol=0)
