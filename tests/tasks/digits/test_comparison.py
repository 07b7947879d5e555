"""Which of two digits is larger."""

import numpy as np
import pytest
import torch
from digit_batches import LARGEST, SMALLEST, KnowingReader, batch, built, errors_of, labels_of, numbers_of

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.digit_networks import DigitPair
from nalm.models.pair_cnn import PairCNN
from nalm.recipes import MSE, Adam
from nalm.tasks import MnistComparison

TASK = MnistComparison(digits="drawn")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_the_answer_is_whether_the_first_digit_is_larger(split):
    x, y = batch(TASK, split, 100, evaluating=split != "train")
    assert x.shape == (1, 100, 2, 28, 28)
    digits = labels_of(x[0])
    np.testing.assert_array_equal(y[0, :, 1:3], digits)
    np.testing.assert_array_equal(y[0, :, 0], digits[:, 0] > digits[:, 1])
    assert {0.0, 1.0} == set(y[0, :, 0].tolist())


def test_equal_digits_are_not_larger():
    _, y = batch(TASK, n=400)
    equal = y[0, :, 1] == y[0, :, 2]
    assert equal.any()
    assert not y[0, equal, 0].any()


@pytest.mark.parametrize(("u", "place"), [(SMALLEST, 0), (LARGEST, -1)])
def test_the_least_and_the_largest_number_pick_the_first_and_the_last_image(u, place):
    _, y = TASK.batch(torch.full((1, 2, 1), u), numbers_of(TASK))
    assert (y[0, 0, 1:3] == TASK.constants("train")["labels"][place]).all()


def test_the_answer_from_digits_that_are_read_rightly_has_no_error():
    network = built(TASK, "mlp")
    network.reader = KnowingReader()
    network.unit.forward = lambda pairs: (pairs[:, :1] > pairs[:, 1:]).to(pairs.dtype)
    found = errors_of(TASK, network, n=200)
    assert (found["mse"], found["wrong_rounded"]) == (0, 0)
    np.testing.assert_allclose(np.trace(found["digits"], axis1=1, axis2=2), 1)


def test_nsr_has_weights_that_solve_it():
    network = built(TASK, "nsr")
    network.reader = KnowingReader()
    network.unit.ideal_("gt", 0, 1)
    found = errors_of(TASK, network, n=200)
    assert found["wrong_rounded"] == 0
    assert found["mse"] < 1e-3


def test_a_network_that_sees_both_images_takes_the_place_of_reader_and_unit():
    assert isinstance(built(TASK, "pair-cnn"), PairCNN)
    assert isinstance(built(TASK, "nsr"), DigitPair)


@pytest.mark.parametrize("model", MnistComparison.models)
def test_all_models_give_an_answer_and_two_readings(model):
    network = built(TASK, model)
    x, _ = batch(TASK, n=3)
    with torch.no_grad():
        assert network(x[0]).shape == (3, *TASK.output_shape)


def test_the_recipe_is_ours_because_the_papers_have_none():
    made = Case(ModelSpec.parse("nsr"), MnistComparison()).recipe
    assert (made.optimiser, made.batch_size, made.iterations) == (Adam(1e-3), 64, 50 * 429)
    assert made.loss == MSE()
