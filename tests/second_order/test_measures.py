"""How far predictions are off."""

import torch

from nalm.second_order.measures import residuals, slopes

Y = torch.tensor([[2.0], [-4.0], [0.0]], dtype=torch.float64)
PLAIN, LOGARITHMIC = torch.tensor([False]), torch.tensor([True])


def test_plain_is_the_difference():
    assert residuals(Y[None] + 1, Y, PLAIN).flatten().tolist() == [1, 1, 1]


def test_logarithmic_is_the_ratio_of_magnitudes_whatever_the_sign():
    off = residuals(-2 * Y[None], Y, LOGARITHMIC)[0, :, 0]
    torch.testing.assert_close(off[:2].exp(), torch.full((2,), 2.0, dtype=torch.float64))


def test_targets_of_zero_do_not_count_in_logarithms():
    assert residuals(Y[None] + 1, Y, LOGARITHMIC)[0, 2, 0] == 0
    assert slopes(Y[None] + 1, Y, LOGARITHMIC)[0, 2, 0] == 0


def test_a_prediction_of_zero_is_far_off_but_finite():
    off = residuals(torch.zeros_like(Y)[None], Y, LOGARITHMIC)
    assert off.isfinite().all()
    assert off[0, 0, 0] < -600


def test_slopes_are_the_derivatives():
    predictions = (Y[None] * 1.5 + 0.1).requires_grad_()
    for measure in (PLAIN, LOGARITHMIC):
        (found,) = torch.autograd.grad(residuals(predictions, Y, measure).sum(), predictions)
        torch.testing.assert_close(slopes(predictions.detach(), Y, measure), found)
