"""How many of several digits in one image are even."""

import numpy as np
import pytest
import torch
from digit_batches import LARGEST, NOW, SMALLEST, batch, built, errors_of, numbers_of, predictor, uniforms
from torch import nn

from nalm.data import load_digits
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import Adam, CrossEntropy
from nalm.tasks import MnistParity

PAPER, QUICK = (MnistParity(digits="drawn", protocol=name) for name in ("paper", "quick"))
both = pytest.mark.parametrize("task", [PAPER, QUICK], ids=["paper", "quick"])


def drawn_by_hand(task, u):
    """The image and the number of even digits of one sample, point by point."""
    train = load_digits("drawn").train
    images, labels = train.images[:2750].numpy(), train.labels[:2750].numpy()
    most, side = task.most_digits, task.side
    image, even = np.zeros((side, side), np.float32), 0
    for k in range(1 + int(u[0] * most)):
        chosen = int(u[1 + k] * len(labels))
        row, column = (int(u[1 + place * most + k] * (side - 27)) for place in (1, 2))
        even += labels[chosen] % 2 == 0
        for r in range(28):
            for c in range(28):
                here = image[row + r, column + c]
                image[row + r, column + c] = max(here, np.float32(images[chosen, r, c]) / np.float32(255))
    return image, even


@both
def test_an_image_shows_digits_where_they_are_put_and_says_how_many_are_even(task):
    u = uniforms(task, n=5)
    x, y = task.batch(u, numbers_of(task))
    assert x.shape == (1, 5, task.side, task.side)
    assert y.shape == (1, 5, task.most_digits + 1)
    assert torch.equal(y.sum(-1), torch.ones(1, 5))
    for k in range(5):
        image, even = drawn_by_hand(task, u[0, :, k].numpy())
        np.testing.assert_allclose(x[0, k].numpy(), image, rtol=1e-6)
        assert int(y[0, k].argmax()) == even


@both
@pytest.mark.parametrize("u", [SMALLEST, LARGEST])
def test_digits_at_the_edges_lie_within_the_image(task, u):
    x, y = task.batch(torch.full((1, task.draws, 1), u), numbers_of(task))
    ink = x[0, 0].nonzero()
    corner = ink.min(0).values if u < 0.5 else task.side - 1 - ink.max(0).values
    assert (corner < 28).all()
    assert y.sum() == 1


@both
def test_every_number_of_digits_and_of_even_ones_occurs(task):
    _, y = batch(task, n=400)
    assert (y[0].sum(0) > 0).all()
    counts = 1 + (uniforms(task, n=400)[0, 0] * task.most_digits).long()
    assert counts.unique().tolist() == list(range(1, task.most_digits + 1))
    assert (y[0].argmax(-1) <= counts).all()


def test_sizes_are_those_of_the_paper_and_smaller_ones_in_the_quick_protocol():
    assert (PAPER.side, PAPER.most_digits, PAPER.out_features) == (100, 5, 6)
    assert (QUICK.side, QUICK.most_digits, QUICK.out_features) == (56, 3, 4)
    assert PAPER.unit_features == (32, 6)


class Sure(nn.Module):
    """Logits that are right, or wrong by one class: the class comes in the first points of the image."""

    def __init__(self, shift=0):
        super().__init__()
        self.shift = shift

    def forward(self, images):
        return 100 * images[:, 0, : QUICK.out_features].roll(self.shift, -1)


class Marked(MnistParity):
    def batch(self, u, numbers):
        x, y = super().batch(u, numbers)
        x[..., 0, : self.out_features] = y
        return x, y


@pytest.mark.parametrize(("shift", "wrong"), [(0, 0), (1, 1)])
def test_a_class_is_right_or_wrong(shift, wrong):
    found = errors_of(Marked(digits="drawn", protocol="quick"), Sure(shift), n=50)
    assert found["wrong_class"] == wrong
    assert found["cross_entropy"] == pytest.approx(100 * wrong, abs=1e-6)


def test_training_minimises_the_cross_entropy_of_all_classes():
    network = built(QUICK, "linear")
    u, numbers = uniforms(QUICK, n=32), numbers_of(QUICK)
    x, y = QUICK.batch(u, numbers)
    loss = QUICK.objective(predictor(network), u, numbers, QUICK.loss, NOW)
    expected = nn.functional.cross_entropy(network(x[0]), y[0].argmax(-1))
    assert QUICK.loss == CrossEntropy()
    torch.testing.assert_close(loss[0], expected)


def test_a_layer_that_knows_more_has_a_smaller_loss():
    task = Marked(digits="drawn", protocol="quick")
    u, numbers = uniforms(task, n=32), numbers_of(task)
    right, wrong = (
        float(task.objective(predictor(Sure(shift)), u, numbers, task.loss, NOW)) for shift in (0, 1)
    )
    assert right < 1e-6 < wrong


@pytest.mark.parametrize("model", MnistParity.models)
def test_all_models_of_the_paper_give_logits(model):
    network = built(QUICK, model)
    x, _ = batch(QUICK, n=2)
    with torch.no_grad():
        assert network(x[0]).shape == (2, 4)


def test_the_recipe_is_ours_because_the_paper_has_none():
    made = Case(ModelSpec.parse("nac"), MnistParity()).recipe
    assert (made.optimiser, made.batch_size, made.iterations) == (Adam(1e-3), 64, 50 * 156)
    assert made.penalties == ()
