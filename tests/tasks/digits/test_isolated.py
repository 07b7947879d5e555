"""Two digits side by side, multiplied or divided, tested on pairs that were never trained on."""

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

from nalm.data import load_digits
from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.digit_readers import READERS
from nalm.recipes import L1, Adam, Discretise, Ramp, UnitPenalty
from nalm.tasks import MnistIsolated
from nalm.tasks.digits.pairs import fold_pairs

MUL, DIV = (MnistIsolated(op, digits="drawn") for op in ("mul", "div"))
FEW = replace(MUL, per_digit=6)
every = pytest.mark.parametrize("task", [MUL, DIV, FEW, replace(DIV, per_digit=6)])


def answers(task, digits):
    first, second = digits[:, 0].astype(np.float32), digits[:, 1].astype(np.float32)
    return first * second if task.op == "mul" else first / second


# -- batches -------------------------------------------------------------------------------------


def test_a_batch_of_training_shows_every_pair_by_images_of_its_own():
    for task in (MUL, DIV):
        x, y = batch(task, n=128)
        assert x.shape == (1, 128, 2, 28, 28)
        assert y.shape == (1, 128, *task.target_shape)
        digits = labels_of(x[0])
        np.testing.assert_array_equal(y[0, :, 1:3], digits)
        np.testing.assert_array_equal(y[0, :, 0], answers(task, digits))
        assert torch.equal(y[..., 3], y[..., 0])  # what whole digits should come to


@every
def test_in_evaluation_an_index_says_which_images_stand_side_by_side(task):
    (images, index), y = batch(task, "test", 50, evaluating=True)
    assert images.shape == (1, 500, 28, 28)
    digits = labels_of(images[0])[index[0]]
    np.testing.assert_array_equal(y[0, :, 1:3], digits)
    np.testing.assert_array_equal(y[0, :, 0], answers(task, digits))


@pytest.mark.parametrize("task", [MUL, DIV])
def test_both_forms_show_the_same_pairs(task):
    u, numbers = uniforms(task, n=30), numbers_of(task)
    plain, targets = task.batch(u, numbers)
    (images, index), others = task.batch(u, {**numbers, "block": torch.zeros(1)})
    assert torch.equal(images[0][index[0]], plain[0])
    assert torch.equal(others, targets)


def test_a_batch_may_show_a_few_images_of_each_digit():
    (images, index), y = batch(FEW, n=128)
    assert images.shape == (1, 60, 28, 28)
    labels = labels_of(images[0])
    np.testing.assert_array_equal(labels, np.repeat(np.arange(10), 6))
    digits = labels[index[0]]
    np.testing.assert_array_equal(y[0, :, 1:3], digits)
    np.testing.assert_array_equal(y[0, :, 0], digits.prod(1))


def test_no_zeros_are_shown_where_something_is_divided():
    (images, index), y = batch(replace(DIV, per_digit=3), n=64)
    assert images.shape == (1, 27, 28, 28)
    labels = labels_of(images[0])
    np.testing.assert_array_equal(labels, np.repeat(np.arange(1, 10), 3))
    np.testing.assert_array_equal(labels[index[0]], y[0, :, 1:3])


def test_few_images_change_what_is_shown_and_not_what_is_asked():
    few, every_own = (batch(task, n=128, seed=3)[1] for task in (FEW, MUL))
    assert torch.equal(few, every_own)


def test_all_of_a_few_images_are_used_and_they_are_others_in_each_batch():
    (first, index), _ = batch(FEW, n=4000)
    assert len(index.unique()) == 60
    (second, _), _ = batch(FEW, n=4000, seed=1)
    assert not torch.equal(first, second)


def test_few_images_come_from_the_images_of_training_alone():
    training = {image.tobytes() for image in load_digits("drawn").train.images[:2750].numpy()}
    (images, _), _ = batch(FEW, n=128)
    shown = {image.tobytes() for image in (images[0] * 255).round().to(torch.uint8).numpy()}
    assert shown <= training


@pytest.mark.parametrize("per_digit", [1, 12])
def test_as_many_images_of_each_digit_are_shown_as_are_asked_for(per_digit):
    (images, index), y = batch(replace(MUL, per_digit=per_digit), n=128)
    assert images.shape == (1, 10 * per_digit, 28, 28)
    np.testing.assert_array_equal(labels_of(images[0])[index[0]], y[0, :, 1:3])


@pytest.mark.parametrize("per_digit", [0, 13])
def test_as_many_images_as_a_batch_cannot_show_are_refused_in_a_sentence(per_digit):
    with pytest.raises(ArgumentError, match="`per_digit` must be"):
        MnistIsolated("mul", per_digit=per_digit)


def test_fewer_images_to_evaluate_on_are_the_first():
    few = replace(MUL, most_images=100)
    assert len(few.constants("train")["images"]) == 2_750
    held = few.constants("test")["images"].numpy()
    wanted = load_digits("drawn").test.images[:100].numpy()
    assert {image.tobytes() for image in held} == {image.tobytes() for image in wanted}


@pytest.mark.parametrize("u", [SMALLEST, LARGEST])
@every
def test_the_least_and_the_largest_numbers_pick_images_of_the_digits(task, u):
    numbers = numbers_of(task)
    x, y = task.batch(torch.full((1, task.draws, 64), u), numbers)
    pictures = x[0][0][x[1][0]] if isinstance(x, tuple) else x[0]
    np.testing.assert_array_equal(labels_of(pictures), y[0, :, 1:3])


# -- folds ---------------------------------------------------------------------------------------


def shown_pairs(task, split, seed):
    _, y = batch(task, split, 3000, seed, evaluating=split != "train")
    return {tuple(int(d) for d in row) for row in y[0, :, 1:3].tolist()}


@pytest.mark.parametrize("seed", [0, 7, 13])
@every
def test_the_seed_chooses_the_fold(task, seed):
    held = fold_pairs(seed % 10, 10, zeros=task.op == "mul")
    assert shown_pairs(task, "train", seed) == set(held["train"])
    assert shown_pairs(task, "test", seed) == set(held["test"])
    assert shown_pairs(task, "validation", seed) == set(held["train"])


@pytest.mark.parametrize("task", [MUL, DIV])
def test_no_pair_that_is_tested_on_is_ever_trained_on(task):
    for seed in range(10):
        assert not shown_pairs(task, "train", seed) & shown_pairs(task, "test", seed)


def test_ten_seeds_test_every_pair():
    for task, count in ((MUL, 100), (DIV, 81)):
        assert len(set.union(*(shown_pairs(task, "test", seed) for seed in range(10)))) == count


def test_nothing_is_divided_by_zero():
    assert not any(0 in pair for seed in range(3) for pair in shown_pairs(DIV, "train", seed))
    assert any(0 in pair for pair in shown_pairs(MUL, "train", 0))


# -- solutions -----------------------------------------------------------------------------------

SOLVED = [("mul", "nmu"), ("mul", "snmu"), ("mul", "mul"), ("div", "div"), ("div", "nmru"), ("div", "nru")]


@pytest.mark.parametrize(("op", "model"), SOLVED)
def test_ideal_weights_and_a_perfect_reader_have_no_error(op, model):
    task = MnistIsolated(op, digits="drawn")
    network = built(task, model)
    network.reader = KnowingReader()
    if model not in ("mul", "div"):
        network.unit.ideal_(op, 0, 1)
    found = errors_of(task, network, n=500)
    assert found["mse"] < 1e-12
    assert (found["wrong_5dp"], found["wrong_rounded"], found["wrong_whole"]) == (0, 0, 0)
    np.testing.assert_allclose(np.trace(found["digits"], axis1=1, axis2=2), 1)
    if model != "nmru":  # in log space it rounds
        assert (found["mse"], found["wrong"]) == (0, 0)


def test_wrong_results_are_counted_in_several_ways():
    network = built(MUL, "mul")
    network.reader = KnowingReader()
    network.unit.forward = lambda pairs: pairs.prod(-1, keepdim=True) + 0.001
    found = errors_of(MUL, network, n=500)
    assert (found["wrong"], found["wrong_5dp"], found["wrong_rounded"]) == (1, 1, 0)
    curves = {facet.labels["accuracy"]: facet.curve for facet in MUL.facets()}
    assert curves == {
        "exact": "test/wrong",
        "5 decimals": "test/wrong_5dp",
        "rounded": "test/wrong_rounded",
        "whole digits": "test/wrong_whole",
    }


def test_readings_that_are_nearly_right_are_right_as_whole_digits():
    network = built(MUL, "mul")
    network.reader = KnowingReader()
    network.reader.forward = lambda images: KnowingReader().forward(images) - 0.2
    found = errors_of(MUL, network, n=500)
    assert found["wrong"] == found["wrong_5dp"] == 1
    assert found["wrong_whole"] == 0
    np.testing.assert_allclose(np.trace(found["digits"], axis1=1, axis2=2), 1)


# -- recipes -------------------------------------------------------------------------------------


def recipe(op, model, **changes):
    return Case(ModelSpec.parse(model), MnistIsolated(op, **changes)).recipe


@pytest.mark.parametrize(
    ("op", "model", "strength", "pairs"),
    [
        ("mul", "nmu", 100, 90),
        ("mul", "snmu(noise=batch)", 100, 90),
        ("div", "nru", 2, 73),
        ("div", "nmru", 2, 73),
    ],
)
def test_the_thesiss_numbers(op, model, strength, pairs):
    made, epoch = recipe(op, model), 1000 * pairs // 128
    assert (made.optimiser, made.batch_size, made.iterations) == (Adam(1e-3), 128, 1000 * epoch)
    assert made.penalties == (UnitPenalty(strength, Ramp(30 * epoch, 40 * epoch)),)


def test_the_real_npu_has_its_penalties_at_the_same_epochs_and_leaves_the_reader_alone():
    made = recipe("div", "realnpu@modified")
    own = [part for part in made.penalties if isinstance(part, Discretise)]
    assert {(part.strength, part.schedule) for part in own} == {(2, Ramp(30 * 570, 40 * 570))}
    (l1,) = (part for part in made.penalties if isinstance(part, L1))
    assert l1.of == "units"


@pytest.mark.parametrize(
    ("op", "model"), [("mul", "mul"), ("mul", "fc-product"), ("div", "mlp"), ("div", "div")]
)
def test_baselines_have_no_penalty(op, model):
    assert recipe(op, model).penalties == ()


def test_the_quick_protocol_shows_few_images():
    quick = MnistIsolated("mul").reduced()
    assert quick.images_per_step == 10 * quick.per_digit < MnistIsolated("mul").images_per_step == 256
    made = Case(ModelSpec.parse("nmu"), quick).recipe
    assert made.batch_size >= 10 * quick.per_digit
    assert made.penalties == (UnitPenalty(100, Ramp(0.5 * made.iterations, 0.75 * made.iterations)),)


@pytest.mark.parametrize(("op", "pairs"), [("mul", 90), ("div", 73)])
def test_an_epoch_draws_1000_samples_of_each_pair_or_shows_as_many_images_as_there_are(op, pairs):
    task = MnistIsolated(op)
    assert task.epoch() == 1000 * pairs // recipe(op, op).batch_size
    assert task.reduced().epoch() == 55_000 // task.reduced().images_per_step


def test_a_recipe_that_draws_other_first_weights_draws_those_of_the_unit_alone():
    modified, usual = (
        Case(ModelSpec.parse(f"realnpu@{name}"), MnistIsolated("div", reader="small-classifier"))
        for name in ("modified", "published")
    )
    ours, theirs = (case.initial([0, 1]) for case in (modified, usual))
    assert ours.keys() == theirs.keys()
    changed = [name for name in ours if not torch.equal(ours[name], theirs[name])]
    assert changed == ["unit.weight"]
    assert ours["unit.weight"].abs().max() <= 0.5  # that of the NAU
    assert not torch.equal(*ours["unit.weight"])


@pytest.mark.parametrize(("reader", "make"), READERS.items())
def test_the_reader_is_chosen_by_its_name_and_an_unusual_one_is_declared(reader, make):
    task = MnistIsolated("mul", reader=reader)
    assert type(built(task, "mul").reader) is type(make())
    assert task.labels() == {"op": "mul", **({} if reader == "classifier" else {"reader": reader})}
    with pytest.raises(ArgumentError, match=r"`reader` must be one of .* Did you mean 'classifier'"):
        MnistIsolated("mul", reader="clasifier")


@needs_mnist
def test_mnist_shows_pairs_of_digits():
    task = MnistIsolated("div")
    x, y = batch(task, n=16)
    assert x.shape == (1, 16, 2, 28, 28)
    assert torch.equal(y[..., 0], y[..., 1] / y[..., 2])
    held = task.constants("test")
    assert (len(held["images"]), int(held["counts"].sum())) == (10_000, 10_000)
