"""Sequential MNIST: running products and sums of digits, tested on longer sequences than trained on."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from digit_batches import (
    LARGEST,
    SMALLEST,
    KnowingReader,
    batch,
    built,
    errors_of,
    labels_of,
    needs_mnist,
    numbers_of,
    uniforms,
)

import nalm
from nalm.data import load_digits
from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import Adam, InputIdentity, Ramp, UnitPenalty
from nalm.recipes.schedules import Always
from nalm.tasks import MnistSequential

MUL, ADD = (MnistSequential(op, digits="drawn") for op in ("mul", "add"))
both = pytest.mark.parametrize("task", [MUL, ADD], ids=["mul", "add"])


def running(op, digits):
    """Results after each digit, as whole numbers of any size."""
    found = []
    for row in digits.tolist():
        so_far = 1 if op == "mul" else 0
        found.append([so_far := so_far * d if op == "mul" else so_far + d for d in row])
    return found


# -- batches -------------------------------------------------------------------------------------


@both
def test_a_batch_of_training_has_the_results_after_each_digit_and_the_digits(task):
    x, y = batch(task, n=40)
    assert x.shape == (1, 40, task.length, 28, 28)
    assert y.shape == (1, 40, task.length, 2)
    digits = labels_of(x[0])
    np.testing.assert_array_equal(y[0, ..., 1], digits)
    np.testing.assert_array_equal(y[0, ..., 0], running(task.op, digits))


@both
def test_in_evaluation_an_index_says_which_image_stands_where(task):
    (images, index), y = batch(task, "test", 10, evaluating=True)
    longest = max(task.lengths)
    assert index.shape == (1, 10, longest)
    assert y.shape == (1, 10, longest, 2)
    held = load_digits("drawn").test.labels
    assert images.shape == (1, int((held > 0).sum()) if task.op == "mul" else 500, 28, 28)
    digits = labels_of(images[0])[index[0]]
    np.testing.assert_array_equal(y[0, ..., 1], digits)
    exact = running(task.op, digits)
    np.testing.assert_array_equal(y[0, ..., 0].numpy(), np.array(exact, dtype=object).astype(np.float32))


@both
def test_both_forms_show_the_same_sequences(task):
    u, numbers = uniforms(task, n=12), numbers_of(task)
    plain, answers = task.batch(u, numbers)
    (images, index), others = task.batch(u, {**numbers, "block": torch.zeros(1)})
    assert torch.equal(images[0][index[0]], plain[0])
    assert torch.equal(others, answers)


@pytest.mark.parametrize("evaluating", [False, True])
def test_products_have_no_zeros_and_sums_have(evaluating):
    for task, zeros in ((MUL, False), (ADD, True)):
        _, y = batch(task, "validation" if evaluating else "train", 300, evaluating=evaluating)
        assert bool((y[..., 1] == 0).any()) is zeros


@both
def test_validation_shows_no_image_of_training(task):
    shown = [task.constants(split)["images"].numpy() for split in ("train", "validation", "test")]
    pictures = [{image.tobytes() for image in images} for images in shown]
    assert len(set.union(*pictures)) == sum(map(len, pictures))


@both
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_least_and_the_largest_number_pick_the_first_and_the_last_image(task, split):
    labels = task.constants(split)["labels"]
    draws = task.draws_in(split)
    for u, place in ((SMALLEST, 0), (LARGEST, -1)):
        _, y = task.batch(torch.full((1, draws, 1), u), numbers_of(task, split))
        assert (y[..., 1] == labels[place]).all()


def test_results_of_twenty_digits_are_the_exact_products_rounded_once():
    _, y = batch(MUL, "test", 200, evaluating=True)
    digits = y[0, ..., 1].long()
    for row, ours in zip(digits.tolist(), y[0, :, -1, 0].tolist()):
        assert ours == float(np.float32(float(math.prod(row))))


@both
def test_a_batch_may_show_few_images_in_many_sequences(task):
    few = replace(task, few=5)
    (images, index), y = batch(few, n=200)
    assert images.shape == (1, 5, 28, 28)
    assert index.shape == (1, 200, task.length)
    assert sorted(index.unique().tolist()) == list(range(5))
    digits = labels_of(images[0])[index[0]]
    np.testing.assert_array_equal(y[0, ..., 1], digits)
    np.testing.assert_array_equal(y[0, ..., 0], running(task.op, digits))
    (others, _), _ = batch(few, n=200, seed=1)
    assert not torch.equal(images, others)


@pytest.mark.parametrize("few", [0, 65])
def test_as_many_images_as_a_batch_cannot_show_are_refused_in_a_sentence(few):
    """A batch of 64 sequences has 64 numbers to pick images by."""
    with pytest.raises(ArgumentError, match="`few` must be"):
        MnistSequential("mul", few=few)


@both
def test_few_images_are_shown_in_training_alone(task):
    ours, theirs = (batch(each, "test", 5, evaluating=True) for each in (replace(task, few=5), task))
    assert torch.equal(ours[1], theirs[1])
    assert all(torch.equal(a, b) for a, b in zip(ours[0], theirs[0], strict=True))


@both
def test_two_runs_have_images_of_their_own(task):
    few = replace(task, few=5)
    u = torch.cat([uniforms(few, n=20, seed=seed) for seed in range(2)])
    (images, index), y = few.batch(u, few.constants("train"))
    for run in range(2):
        np.testing.assert_array_equal(labels_of(images[run])[index[run]], y[run, ..., 1])
        assert torch.equal(y[run], batch(few, n=20, seed=run)[1][0])


def test_sequences_have_the_lengths_of_the_papers():
    assert (MUL.length, ADD.length) == (2, 10)
    assert MUL.lengths == tuple(range(1, 21))
    assert ADD.lengths == (1, 10, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    for task in (MUL, ADD):
        assert [facet.labels for facet in task.facets()] == [{"length": n} for n in task.lengths]
        assert {facet.curve for facet in task.facets()} == {"test/mse_by_length"}
        assert [facet.index for facet in task.facets()] == list(range(len(task.lengths)))


@needs_mnist
def test_mnist_has_no_zeros_in_products():
    held = MnistSequential("mul").constants("test")
    assert held["images"].shape == (9_020, 28, 28)
    assert sorted(set(held["labels"].tolist())) == list(range(1, 10))


# -- solutions -----------------------------------------------------------------------------------

SOLVED = [("mul", "nmu"), ("mul", "snmu"), ("mul", "mul"), ("add", "nau"), ("add", "add")]


def solved(task, model):
    """The network with a reader that cannot err and ideal weights."""
    network = built(task, model)
    network.reader = KnowingReader()
    if model not in ("mul", "add"):
        network.unit.ideal_(task.op, 0, 1)
    return network


def exact(task, longest):
    """How many of the lengths have results that are represented exactly: products up to this length."""
    return sum(length <= longest or task.op == "add" for length in task.lengths)


def relative(task, errors):
    """The root of each error as a part of the largest result of that length."""
    largest = [9.0**length if task.op == "mul" else 9.0 * length for length in task.lengths]
    return np.sqrt(errors) / largest


@pytest.mark.parametrize(("op", "model"), SOLVED)
def test_ideal_weights_and_a_perfect_reader_have_no_error_at_any_length(op, model):
    task = MnistSequential(op, digits="drawn")
    found = errors_of(task, solved(task, model).double(), n=20, dtype=torch.float64)
    assert found["mse"] == 0
    assert (found["mse_by_length"][: exact(task, 16)] == 0).all()  # 9 ** 16 < 2 ** 53
    assert (relative(task, found["mse_by_length"]) < 1e-15).all()
    assert np.trace(found["digits"]) == pytest.approx(1)


@pytest.mark.parametrize(("op", "model"), SOLVED)
def test_in_float32_they_have_none_as_long_as_results_are_whole_numbers_there(op, model):
    task = MnistSequential(op, digits="drawn")
    found = errors_of(task, solved(task, model), n=20)
    assert found["mse"] == 0
    assert (found["mse_by_length"][: exact(task, 7)] == 0).all()  # 9 ** 7 < 2 ** 24
    assert (relative(task, found["mse_by_length"]) < 1e-6).all()


@both
def test_a_wrong_reading_is_an_error_and_is_counted(task):
    network = solved(task, task.op)
    network.reader.forward = lambda images: KnowingReader().forward(images) + 1
    found = errors_of(task, network, n=20)
    assert (found["mse_by_length"] > 0).all()
    assert np.trace(found["digits"]) == pytest.approx(found["digits"][9].sum())  # a nine is read as nine


@both
def test_the_error_of_training_is_that_of_all_results_up_to_the_training_length(task):
    network = solved(task, task.op)
    network.reader.forward = lambda images: 2 * KnowingReader().forward(images)
    _, y = batch(task, "test", 20, evaluating=True)
    digits = y[0, :, : task.length, 1].numpy()
    error = np.array(running(task.op, 2 * digits)) - np.array(running(task.op, digits))
    assert errors_of(task, network, n=20)["mse"] == pytest.approx((error**2).mean())


def test_a_network_made_by_hand_is_trained_for_several_seeds():
    network = MUL.network(nalm.NMU(2, 1))
    result = nalm.train(network, MUL, seeds=2, iterations=2)
    assert result.validation.shape == (2, 2)
    first, second = result.final_parameters["unit.weight"]
    assert not torch.equal(first, second)


# -- recipes -------------------------------------------------------------------------------------


def recipe(op, model, **changes):
    return Case(ModelSpec.parse(model), MnistSequential(op, **changes)).recipe


WITH_PENALTY = [("mul", "nmu"), ("mul", "snmu"), ("mul", "nac-mul(weight=linear)"), ("add", "nau")]


@pytest.mark.parametrize(("op", "model"), WITH_PENALTY)
def test_the_papers_numbers(op, model):
    made = recipe(op, model)
    assert made.optimiser == Adam(1e-3)
    assert made.batch_size == 64
    images = 2 if op == "mul" else 10
    assert made.iterations == 1000 * (55_000 // (images * 64))
    (own,) = (part for part in made.penalties if isinstance(part, UnitPenalty))
    assert (own.strength, own.schedule) == (10, Ramp(10e3, 100e3))


@pytest.mark.parametrize(("op", "model"), WITH_PENALTY)
@pytest.mark.parametrize("protocol", ["paper", "quick"])
def test_units_whose_weights_should_be_discrete_have_r_z_from_the_start(op, model, protocol):
    (r_z,) = (p for p in recipe(op, model, protocol=protocol).penalties if isinstance(p, InputIdentity))
    assert (r_z.strength, r_z.schedule, r_z.identity) == (1, Always(), 1 if op == "mul" else 0)


@pytest.mark.parametrize(
    ("op", "model"),
    [("add", "nac"), *((op, model) for op in ("mul", "add") for model in ("nalu", "lstm", op))],
)
def test_other_models_have_no_penalty(op, model):
    assert recipe(op, model).penalties == ()


@pytest.mark.parametrize("model", ["nac-mul", "nac-mul(weight=sigmoid)"])
def test_the_multiplicative_nac_has_r_z_only_with_linear_weights(model):
    """Madsen & Johansen 2020, figures 4 and 15: NAC• and NAC•,σ are the same in both."""
    assert not [part for part in recipe("mul", model).penalties if isinstance(part, InputIdentity)]


@pytest.mark.parametrize(("op", "model"), WITH_PENALTY)
def test_in_the_quick_protocol_penalties_grow_in_the_third_quarter(op, model):
    made = recipe(op, model, protocol="quick")
    (own,) = (part for part in made.penalties if isinstance(part, UnitPenalty))
    assert own.schedule == Ramp(0.5 * made.iterations, 0.75 * made.iterations)
    assert own.strength == 10


@both
def test_an_epoch_draws_as_many_images_as_there_are(task):
    assert replace(task, digits="mnist").epoch() == 55_000 // (64 * task.length)
    assert task.epoch() == 2_750 // (64 * task.length)
    assert task.images_per_step == 64 * task.length


def test_the_solved_model_sets_the_threshold():
    assert (MUL.reference, ADD.reference) == ("mul", "add")
    assert MUL.threshold() is None
