"""Counting and adding series of ten digits, tested on up to 1000."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from digit_batches import KnowingReader, batch, built, errors_of, labels_of, numbers_of, uniforms

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import Adam, Ramp, UnitPenalty
from nalm.tasks import MnistSeries

COUNT, ADD = (MnistSeries(op, digits="drawn") for op in ("count", "add"))
both = pytest.mark.parametrize("task", [COUNT, ADD], ids=["count", "add"])


def answers(task, digits):
    """Counts of each digit, or the sum, after each digit."""
    found = np.zeros((*digits.shape, task.results))
    for k, row in enumerate(digits):
        for t in range(len(row)):
            seen = row[: t + 1].tolist()
            found[k, t] = [seen.count(d) for d in range(10)] if task.op == "count" else [sum(seen)]
    return found


@both
def test_a_batch_of_training_has_ten_digits_and_what_they_come_to(task):
    x, y = batch(task, n=30)
    assert x.shape == (1, 30, 10, 28, 28)
    np.testing.assert_array_equal(y[0], answers(task, labels_of(x[0])))


@both
def test_in_evaluation_series_have_a_thousand_digits(task):
    (images, index), y = batch(task, "test", 4, evaluating=True)
    assert images.shape == (1, 500, 28, 28)
    assert index.shape == (1, 4, 1000)
    np.testing.assert_array_equal(y[0], answers(task, labels_of(images[0])[index[0]]))


@both
def test_both_forms_show_the_same_series(task):
    u, numbers = uniforms(task, n=12), numbers_of(task)
    plain, targets = task.batch(u, numbers)
    (images, index), others = task.batch(u, {**numbers, "block": torch.zeros(1)})
    assert torch.equal(images[0][index[0]], plain[0])
    assert torch.equal(others, targets)


@both
def test_a_batch_may_show_few_images_in_many_series(task):
    (images, index), y = batch(replace(task, few=6), n=40)
    assert images.shape == (1, 6, 28, 28)
    np.testing.assert_array_equal(y[0], answers(task, labels_of(images[0])[index[0]]))


@both
def test_the_results_after_each_of_ten_digits_are_trained_on(task):
    outputs = torch.arange(2.0 * 3 * 1000 * task.results).view(2, 3, 1000, task.results)
    trained = task.trained_part(outputs)
    assert trained.shape == (2, 3, 10 * task.results)
    assert torch.equal(trained.unflatten(-1, (10, task.results)), outputs[:, :, :10])


@both
def test_the_decisive_error_is_what_is_trained_on(task):
    network = built(task, "nau").eval()
    (images, index), y = batch(task, "test", 5, evaluating=True)
    with torch.no_grad():
        error = task.trained_part(network(images[0], index[0])[None]) - task.trained_part(y)
    assert errors_of(task, network, n=5)["mse"] == pytest.approx(float(error.square().mean()), rel=1e-5)


def test_the_state_is_the_results():
    assert (COUNT.unit_features, ADD.unit_features) == ((20, 10), (11, 1))
    assert COUNT.target_shape == (1000, 10)
    assert ADD.output_shape == (10, 1)


def solved(task, model):
    """Ten values that are one-hot, weighted by digits where they are added, and the state kept."""
    network = built(task, model)
    network.reader = KnowingReader(10)
    unit = network.unit
    with torch.no_grad():
        if task.op == "count":
            unit.weight.copy_(torch.cat([torch.eye(10), torch.eye(10)], 1))
        else:
            unit.w_hat.copy_(torch.tensor([[*range(10), 1.0]]))
            unit.bias.zero_()
    return network


@pytest.mark.parametrize(("task", "model"), [(COUNT, "nau"), (ADD, "linear")])
def test_there_are_weights_that_solve_it_at_every_length(task, model):
    found = errors_of(task, solved(task, model), n=3)
    assert found["mse"] == 0
    assert found["mse_by_length"].tolist() == found["mae_by_length"].tolist() == [0] * 4
    assert np.trace(found["digits"]) == pytest.approx(1)


def test_errors_by_length_are_those_of_the_papers_table():
    """A network that says zero: the mean absolute error is the mean count, or the mean sum."""
    network = solved(COUNT, "nau")
    torch.nn.init.zeros_(network.unit.weight)
    found = errors_of(COUNT, network, n=3)
    assert COUNT.lengths == (1, 10, 100, 1000)
    np.testing.assert_allclose(found["mae_by_length"], [0.1, 1, 10, 100])
    facets = COUNT.facets()
    assert [facet.labels["length"] for facet in facets] == [1, 10, 100, 1000]
    assert {facet.curve for facet in facets} == {"test/mae_by_length"}


@pytest.mark.parametrize("model", ["lstm", "gru", "rnn-tanh", "rnn-relu", "nac", "nalu", "nau"])
@both
def test_all_models_of_the_paper_give_results_after_each_digit(task, model):
    network = built(task, model).eval()
    x, _ = batch(task, n=3)
    with torch.no_grad():
        assert network(x[0]).shape == (3, *task.output_shape)


@both
def test_the_recipe_is_ours_because_the_paper_has_none(task):
    made = Case(ModelSpec.parse("nac"), MnistSeries(task.op)).recipe
    assert (made.optimiser, made.batch_size, made.iterations) == (Adam(1e-3), 64, 50 * 85)
    assert made.penalties == ()
    with_penalty = Case(ModelSpec.parse("nau"), MnistSeries(task.op)).recipe
    assert with_penalty.penalties == (UnitPenalty(10.0, Ramp(0.5 * 4250, 0.75 * 4250)),)


def test_counting_is_offered_to_what_can_add():
    assert COUNT.recipe_op == ADD.recipe_op == "add"
    assert ModelSpec.parse("nac").can(COUNT.recipe_op)
    assert not ModelSpec.parse("nmu").can(COUNT.recipe_op)
