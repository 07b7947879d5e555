"""Two digits in two colour channels of one image, each turned, scaled and moved."""

import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from digit_batches import batch, built, errors_of, numbers_of, uniforms
from torch import nn

from nalm.data import load_digits
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.distortion import distorted
from nalm.recipes import Adam, Ramp, UnitPenalty
from nalm.tasks import MnistColour
from nalm.tasks.digits.pairs import fold_pairs

TASK = MnistColour(digits="drawn")
SETS = ("train", "validation", "test")


def test_a_batch_has_two_channels_a_product_and_its_digits():
    x, y = batch(TASK, n=20)
    assert x.shape == (1, 20, 2, 42, 42)
    assert y.shape == (1, 20, *TASK.target_shape)
    assert torch.equal(y[..., 0], y[..., 1] * y[..., 2])
    assert 0 <= x.min() < x.max() <= 1


def test_each_channel_shows_a_distorted_image_of_its_digit():
    """The same numbers by hand: the first picks the pair, two the images, four and four the places."""
    u, numbers = uniforms(TASK, n=6, dtype=torch.float64), numbers_of(TASK, dtype=torch.float64)
    x, y = TASK.batch(u, numbers)
    train = load_digits("drawn").train
    pairs = fold_pairs(0, 3, validation=15)["train"]
    for k in range(6):
        own = u[0, :, k]
        pair = pairs[int(own[0] * len(pairs))]
        assert y[0, k, 1:3].tolist() == list(pair)
        for digit in range(2):
            alike = train.images[:2750][train.labels[:2750] == pair[digit]]
            image = alike[int(own[1 + digit] * len(alike))].double() / 255
            place = own[3 + 4 * digit : 7 + 4 * digit]
            expected = distorted(image[None, None], place[None, None], 42)[0, 0]
            torch.testing.assert_close(x[0, k, digit], expected)


def test_digits_have_places_of_their_own():
    x, _ = batch(TASK, n=200)
    ink = x[0] / x[0].sum((-2, -1), keepdim=True)
    middle = (ink.sum(-1) * torch.arange(42.0)).sum(-1)
    assert abs(float(torch.corrcoef(middle.T)[0, 1])) < 0.25
    assert middle.std() > 1


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_seed_chooses_one_of_three_folds(seed):
    held = fold_pairs(seed % 3, 3, validation=15)
    for split in SETS:
        _, y = batch(TASK, split, 2000, seed, evaluating=split != "train")
        assert {tuple(map(int, row)) for row in y[0, :, 1:3].tolist()} == set(held[split])


def test_no_pair_that_is_tested_or_validated_on_is_trained_on():
    for seed in range(3):
        shown = [set(map(tuple, TASK.numbers(seed, split)["pairs"])) for split in SETS]
        assert not any(a & b for a, b in itertools.combinations(shown, 2))
        assert sum(map(len, shown)) == 100


def test_three_seeds_test_every_pair_once():
    tested = Counter(pair for seed in range(3) for pair in TASK.numbers(seed, "test")["pairs"])
    assert set(tested.values()) == {1}
    assert len(tested) == 100


class Known(nn.Module):
    """Says what the digits are: they come in the corners of the images."""

    def forward(self, images):
        return (images[:, :, 0, 0] * 10).round()


@pytest.mark.parametrize("model", ["mul", "nmu", "snmu"])
def test_ideal_weights_and_a_perfect_reader_have_no_error(model):
    class Marked(MnistColour):
        def batch(self, u, numbers):
            x, y = super().batch(u, numbers)
            x[..., 0, 0] = y[..., 1:3] / 10
            return x, y

    network = built(TASK, model)
    network.reader = Known()
    if model != "mul":
        network.unit.ideal_("mul", 0, 1)
    found = errors_of(Marked(digits="drawn"), network, n=100)
    assert (found["mse"], found["wrong"], found["wrong_5dp"], found["wrong_rounded"]) == (0, 0, 0, 0)
    np.testing.assert_allclose(np.trace(found["digits"], axis1=1, axis2=2), 1)


def test_the_thesiss_numbers():
    made = Case(ModelSpec.parse("nmu"), MnistColour()).recipe
    epoch = 51 * 1100 // 256
    assert (made.optimiser, made.batch_size, made.iterations) == (Adam(1e-3), 256, 1000 * epoch)
    assert made.penalties == (UnitPenalty(100, Ramp(30 * epoch, 40 * epoch)),)
    assert {split: TASK.samples(split) for split in SETS[1:]} == {"validation": 16_500, "test": 37_400}


def test_the_quick_protocol_has_small_sets():
    quick = TASK.reduced()
    made = Case(ModelSpec.parse("nmu"), quick).recipe
    assert made.penalties == (UnitPenalty(100, Ramp(0.5 * made.iterations, 0.75 * made.iterations)),)
    assert quick.samples("test") == quick.samples("validation") == 1000


@pytest.mark.parametrize("task", [TASK, TASK.reduced()], ids=["paper", "quick"])
def test_a_step_shows_two_digits_per_sample_and_an_epoch_1100_samples_of_each_pair(task):
    batch_size = Case(ModelSpec.parse("nmu"), task).recipe.batch_size
    assert task.images_per_step == 2 * batch_size
    assert task.epoch() == 51 * 1100 // batch_size
