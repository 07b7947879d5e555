import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import OPERATIONS, TASKS, TEST_RANGES, SingleModule, Split

EPSILON = 1e-5
OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
POSITIVE = [name for name in TEST_RANGES if not name.startswith("-")]


def data(task, split=Split.TEST, seed=0, n=4000, dtype=torch.float32):
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TEST, 0)
    numbers = {name: torch.tensor([value], dtype=dtype) for name, value in task.numbers(seed, split).items()}
    return task.batch(uniform(stream, counters(task.draws, n), dtype), numbers)


def simulated(op, span, inputs, n=400_000):
    """Mean squared error of the model whose weights are all off by epsilon, at its worst signs."""
    u = np.random.default_rng(0).random((inputs, n))
    ends = np.cumsum([0.0] + [high - low for low, high in span.segments])
    x = np.interp(u * span.span, ends, span.low + ends)
    for (_, end), (start, _), cut in zip(span.segments, span.segments[1:], ends[1:]):
        x += np.where(u * span.span >= cut, start - end, 0)
    if op in ("add", "sub"):
        return np.mean((EPSILON * np.abs(x).sum(0)) ** 2)
    rest = np.prod(1 - EPSILON * np.abs(x[2:]), axis=0)
    if op == "mul":
        return np.mean((x[0] * x[1] * (1 - (1 - EPSILON) ** 2 * rest)) ** 2)
    return np.mean((x[0] / x[1] * (1 - (1 - EPSILON) / (1 + EPSILON) * rest)) ** 2)


def test_the_task_is_known_by_its_name():
    assert TASKS["single-module"] is SingleModule


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("inputs", [2, 10])
def test_targets_are_the_operation_on_the_first_two_inputs(op, inputs):
    x, y = (tensor[0].double().numpy() for tensor in data(SingleModule(op, "1:2", inputs)))
    assert x.shape == (4000, inputs)
    assert y.shape == (4000, 1)
    assert np.allclose(y[:, 0], OPERATORS[op](x[:, 0], x[:, 1]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", TEST_RANGES)
@pytest.mark.parametrize("split", Split)
def test_inputs_lie_in_the_range_of_the_split_and_fill_it(name, split):
    task = SingleModule("add", name, 3)
    span = task.test_range if split is Split.TEST else task.train_range
    x = data(task, split)[0].double().numpy()
    inside = [((x >= low - 1e-6) & (x <= high + 1e-6)).mean() for low, high in span.segments]
    assert sum(inside) == pytest.approx(1)
    assert np.allclose(inside, 1 / len(span.segments), atol=0.02)
    assert x.mean() == pytest.approx(span.mean(), abs=0.02 * span.span)


def test_inputs_are_independent_of_each_other():
    x = data(SingleModule("add", "1:2", 4), n=20_000)[0][0].numpy()
    correlation = np.corrcoef(x.T) - np.eye(4)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


def test_a_quotient_is_never_undefined_in_training():
    """Seed 1 draws one half exactly at step 28015: the middle of U[-2, 2) is zero."""
    task = SingleModule("div", "-2:2")
    numbers = {
        name: torch.tensor([value], dtype=torch.float32)
        for name, value in task.numbers(1, Split.TRAIN).items()
    }
    stream = key(torch.tensor([1], dtype=torch.int32), Purpose.DATA, 28_015)
    _, y = task.batch(uniform(stream, counters(2, 128)), numbers)
    assert y.isfinite().all()


# -- thresholds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "published"),
    [
        (2, {"add": 6.67e-9, "sub": 6.67e-9, "mul": 1.20e-7, "div": 5.78e-10}),
        (10, {"add": 1.61e-7, "sub": 1.61e-7, "mul": 3.51e-5, "div": 1.68e-7}),
    ],
)
def test_thresholds_have_the_known_values_on_two_to_six(inputs, published):
    for op, value in published.items():
        assert SingleModule(op, "1:2", inputs).threshold() == pytest.approx(value, rel=5e-3, abs=0)


@pytest.mark.parametrize("name", ["-2:-1", "-2:2", "0.1:0.2", "1:2"])
@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("op", OPERATIONS)
def test_thresholds_are_the_error_of_the_epsilon_perfect_model(op, inputs, name):
    task = SingleModule(op, name, inputs)
    assert task.threshold() == pytest.approx(simulated(op, task.test_range, inputs), rel=0.02, abs=0)


@pytest.mark.parametrize("op", OPERATIONS)
def test_the_threshold_of_validation_belongs_to_the_training_range(op):
    task = SingleModule(op, "1:2")
    assert task.threshold(Split.VALIDATION) == SingleModule(op, "5:6=>1:2").threshold()


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-7, 1e-8])
def test_two_input_thresholds_are_exact_for_any_epsilon(epsilon):
    span = TEST_RANGES["1:2"]
    product = (epsilon * (2 - epsilon)) ** 2 * span.moment(2) ** 2
    quotient = (2 * epsilon / (1 + epsilon)) ** 2 * span.moment(2) * span.mean_inverse_square()
    assert SingleModule("mul").threshold(epsilon=epsilon) == pytest.approx(product, rel=1e-4, abs=0)
    assert SingleModule("div").threshold(epsilon=epsilon) == pytest.approx(quotient, rel=1e-4, abs=0)


def test_a_quotient_has_no_threshold_where_the_range_touches_zero():
    assert SingleModule("div", "-2:2").threshold(Split.VALIDATION) is None
    assert SingleModule("div", "1:2=>0:1").threshold() is None
    assert SingleModule("div", "-2:2").threshold() is not None


# -- ideal weights -------------------------------------------------------------------------------


def solves(unit, task):
    task.ideal_(unit)
    x, y = data(task)
    with torch.no_grad():
        error = (unit(x[0]) - y[0]).double().square().mean().item()
    return error < task.threshold()


@pytest.mark.parametrize("inputs", [2, 10])
@pytest.mark.parametrize("name", TEST_RANGES)
@pytest.mark.parametrize(
    ("kind", "op"),
    [(nalm.NAU, "add"), (nalm.NAU, "sub"), (nalm.NMU, "mul"), (nalm.RealNPU, "mul"), (nalm.RealNPU, "div")],
)
def test_ideal_weights_solve_every_range(kind, op, name, inputs):
    assert solves(kind(inputs, 1), SingleModule(op, name, inputs))


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize(
    ("kind", "op"), [(nalm.NACMul, "mul"), (nalm.NACMul, "div"), *((nalm.NALU, op) for op in OPERATIONS)]
)
def test_ideal_weights_of_units_without_sign_solve_positive_ranges(kind, op, name):
    assert solves(kind(2, 1), SingleModule(op, name))


def test_fresh_weights_do_not_solve_the_task():
    x, y = data(SingleModule("mul"))
    with torch.no_grad():
        assert (nalm.NMU(2, 1)(x[0]) - y[0]).square().mean() > SingleModule("mul").threshold()


# -- errors and shapes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"op": "plus"}, "`op` must be one of add, sub, mul, div, but got 'plus'"),
        ({"op": "ad"}, "Did you mean 'add'?"),
        ({"op": "add", "range": "2:1"}, "low < high"),
        ({"op": "add", "range": "3:4"}, "a known range, or train=>test"),
        ({"op": "add", "inputs": 1}, "`inputs` must be a whole number from 2 to 10000, but got 1"),
        ({"op": "add", "inputs": 0}, "`inputs` must be a whole number from"),
        ({"op": "add", "inputs": 2.0}, "`inputs` must be a whole number from"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(ArgumentError) as error:
        SingleModule(**arguments)
    assert message in str(error.value)


def test_operation_and_range_are_numbers_and_the_inputs_are_the_shape():
    assert SingleModule("add", "1:2").shape() == SingleModule("div", "10:20").shape()
    assert SingleModule("add", inputs=2).shape() != SingleModule("add", inputs=3).shape()


def test_runs_of_one_shape_have_numbers_of_one_shape():
    tasks = [SingleModule(op, name) for op in OPERATIONS for name in TEST_RANGES]
    by_shape = {}
    for task in tasks:
        shapes = {s: {k: np.shape(v) for k, v in task.numbers(0, s).items()} for s in Split}
        assert by_shape.setdefault(task.shape(), shapes) == shapes


def test_evaluation_sets_have_ten_thousand_samples_in_whole_blocks():
    task = SingleModule("add")
    for split in (Split.VALIDATION, Split.TEST):
        assert task.samples(split) == 10_000
        assert task.samples(split) % task.block(split) == 0
