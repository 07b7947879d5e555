"""Errors of networks that read digits, compared with plain loops over runs, samples and digits."""

import math

import numpy as np
import pytest
import torch

from nalm.tasks.digits.measures import (
    PAIR_MEASURES,
    CountedDigits,
    ErrorByLength,
    PairError,
    ReadDigits,
    SequenceError,
    WrongResult,
)

RUNS, N, LENGTH = 2, 7, 6


def pair(*shape, seed=0):
    """Predictions near targets."""
    stream = np.random.default_rng(seed)
    target = stream.integers(0, 10, shape).astype(np.float32)
    return torch.from_numpy(target + stream.normal(0, 1, shape).astype(np.float32)), torch.from_numpy(target)


def loops(prediction, target):
    """Run, sample, and the numbers of both as Python floats."""
    for run in range(len(prediction)):
        for k in range(prediction.shape[1]):
            yield run, prediction[run, k].double().numpy(), target[run, k].double().numpy()


def value(measure, prediction, target):
    """What is logged: the sum over samples divided by the number of terms."""
    terms = prediction.shape[1] * measure.per_sample(target.shape[2:])
    found = measure.total(prediction, target)
    assert found.shape == (len(prediction), *measure.shape)
    return (found.double() / terms).numpy()


# -- sequences -----------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize(("length", "results"), [(1, 1), (4, 1), (LENGTH, 3)])
def test_the_error_of_a_sequence_is_that_of_its_results_up_to_the_training_length(length, results, every):
    prediction, target = pair(RUNS, N, LENGTH, results + 2)
    squares = [[] for _ in range(RUNS)]
    for run, ours, theirs in loops(prediction, target):
        for t in range(length):
            if every or t == length - 1:
                squares[run] += [(ours[t, k] - theirs[t, k]) ** 2 for k in range(results)]
    measure = SequenceError(length=length, results=results, every=every)
    np.testing.assert_allclose(value(measure, prediction, target), np.mean(squares, 1), rtol=1e-12)


def test_what_was_read_is_no_part_of_the_error_of_a_sequence():
    prediction, target = pair(RUNS, N, LENGTH, 2)
    before = value(SequenceError(length=LENGTH), prediction, target)
    prediction[..., 1] += 100
    np.testing.assert_array_equal(value(SequenceError(length=LENGTH), prediction, target), before)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("results", [1, 3])
def test_the_error_by_length_is_that_after_the_last_digit(power, results):
    lengths = (1, 2, 5, LENGTH)
    prediction, target = pair(RUNS, N, LENGTH, results + 1)
    held = np.zeros((RUNS, len(lengths)))
    for run, ours, theirs in loops(prediction, target):
        for place, length in enumerate(lengths):
            for k in range(results):
                held[run, place] += abs(ours[length - 1, k] - theirs[length - 1, k]) ** power
    measure = ErrorByLength("by_length", lengths, power, results)
    np.testing.assert_allclose(value(measure, prediction, target), held / (N * results), rtol=1e-12)


def test_squares_of_products_of_twenty_digits_are_counted_in_float64():
    lengths = tuple(range(1, 21))
    so_far = torch.full((1, N, 20), 9.0, dtype=torch.float64).cumprod(-1)
    target = torch.stack([so_far, torch.full_like(so_far, 9)], -1).float()
    prediction = 3 * target  # (2 * 9 ** 20) ** 2 is 5.9e38, and the largest float32 is 3.4e38
    found = value(ErrorByLength(lengths=lengths), prediction, target)
    expected = [float(2 * np.float32(9.0**length)) ** 2 for length in lengths]
    assert expected[-1] > torch.finfo(torch.float32).max
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    assert math.isfinite(value(SequenceError(length=20), prediction, target)[0])


# -- what was read -------------------------------------------------------------------------------


def nearest_digit(reading):
    return int(min(max(np.round(reading), 0), 9))


def test_readings_are_counted_by_the_true_digit_and_the_nearest_one():
    prediction, target = pair(RUNS, N, LENGTH, 3)
    tables = np.zeros((RUNS, 10, 10))
    for run, ours, theirs in loops(prediction, target):
        for t in range(LENGTH):
            for k in (1, 2):
                tables[run, int(theirs[t, k]), nearest_digit(ours[t, k])] += 1
    found = value(ReadDigits(), prediction, target)
    np.testing.assert_allclose(found, tables / (N * LENGTH * 2), rtol=1e-12)
    np.testing.assert_allclose(found.sum((1, 2)), 1)


def test_the_trace_of_readings_is_the_accuracy():
    _, target = pair(1, 50, 2, 2)
    prediction = target.clone()
    prediction[0, :10, :, 1] = (target[0, :10, :, 1] + 1) % 10
    found = value(ReadDigits(), prediction, target)
    assert np.trace(found[0]) == pytest.approx(0.8)


def test_each_of_two_digits_has_a_table_of_its_own():
    prediction, target = pair(RUNS, N, 3)
    tables = np.zeros((RUNS, 2, 10, 10))
    for run, ours, theirs in loops(prediction, target):
        for place in range(2):
            tables[run, place, int(theirs[1 + place]), nearest_digit(ours[1 + place])] += 1
    found = value(ReadDigits(positions=2), prediction, target)
    np.testing.assert_allclose(found, tables / N, rtol=1e-12)
    np.testing.assert_allclose(found.sum((2, 3)), 1)


@pytest.mark.parametrize(
    ("reading", "digit"), [(-3.0, 0), (12.0, 9), (math.nan, 0), (math.inf, 9), (-math.inf, 0), (4.4, 4)]
)
def test_readings_that_are_no_digits_are_counted_as_the_nearest(reading, digit):
    table = ReadDigits().total(torch.tensor([[[0.0, reading]]]), torch.tensor([[[0.0, 5.0]]]))
    assert (table[0, 5, digit], table.sum()) == (1, 1)


def test_a_network_that_counts_has_seen_the_digit_with_the_largest_count():
    prediction, target = pair(RUNS, N, LENGTH, 10)
    tables = np.zeros((RUNS, 10, 10))
    for run, ours, theirs in loops(prediction, target):
        tables[run, int(np.argmax(theirs[0])), int(np.argmax(ours[0]))] += 1
    np.testing.assert_allclose(value(CountedDigits(results=10), prediction, target), tables / N, rtol=1e-12)


def test_a_network_that_adds_has_seen_its_first_sum_rounded():
    prediction, target = pair(RUNS, N, LENGTH, 1)
    tables = np.zeros((RUNS, 10, 10))
    for run, ours, theirs in loops(prediction, target):
        tables[run, int(theirs[0, 0]), nearest_digit(ours[0, 0])] += 1
    np.testing.assert_allclose(value(CountedDigits(), prediction, target), tables / N, rtol=1e-12)


# -- pairs ---------------------------------------------------------------------------------------


def test_the_error_of_a_pair_is_that_of_its_result_alone():
    prediction, target = pair(RUNS, N, 3)
    expected = np.zeros(RUNS)
    for run, ours, theirs in loops(prediction, target):
        expected[run] += (ours[0] - theirs[0]) ** 2 / N
    np.testing.assert_allclose(value(PairError(), prediction, target), expected, rtol=1e-12)


RESULTS = torch.tensor([6.0, 6.0, 6.0, 1 / 3, 1 / 3, 0.0, 6.0, 6.0])
OURS = torch.tensor([6.0, 6.000001, 6.4, 0.333334, 0.33334, -0.0, math.nan, math.inf])
WRONG = {
    None: [0, 1, 1, 1, 1, 0, 1, 1],
    5: [0, 0, 1, 0, 1, 0, 1, 1],
    0: [0, 0, 0, 0, 0, 0, 1, 1],
}


@pytest.mark.parametrize("decimals", WRONG)
def test_a_result_is_wrong_if_it_differs_after_rounding(decimals):
    for k, wrong in enumerate(WRONG[decimals]):
        ours, theirs = (torch.tensor([[[float(each[k]), 0.0, 0.0]]]) for each in (OURS, RESULTS))
        assert WrongResult(decimals=decimals).total(ours, theirs).tolist() == [wrong]


@pytest.mark.parametrize("decimals", WRONG)
def test_the_share_of_wrong_results_is_that_of_a_loop(decimals):
    prediction, target = pair(RUNS, 200, 3)
    prediction[:, ::2, 0] = target[:, ::2, 0]
    prediction[:, 1::4, 0] = target[:, 1::4, 0] + 1e-6
    wrong = np.zeros(RUNS)
    for run, ours, theirs in loops(prediction, target):
        if decimals is None:
            wrong[run] += ours[0] != theirs[0]
        else:
            wrong[run] += round(float(ours[0]), decimals) != round(float(theirs[0]), decimals)
    np.testing.assert_allclose(value(WrongResult(decimals=decimals), prediction, target), wrong / 200)


def test_the_result_of_whole_digits_is_the_last_output():
    target = torch.tensor([[[6.0, 2.0, 3.0, 6.0]]]).expand(1, 4, 4)
    prediction = target.clone()
    prediction[0, 1, 0] = 5.5  # wrong, but not as whole digits
    prediction[0, 2, 3] = 5.5  # wrong as whole digits alone
    prediction[0, 3, 3] = 6.000001
    assert WrongResult(decimals=5, whole=True).total(prediction, target).tolist() == [1]
    assert WrongResult(decimals=5).total(prediction, target).tolist() == [1]


def test_what_follows_the_digits_is_no_digit():
    prediction, target = pair(RUNS, N, 3)
    with_result = [torch.cat([each, each[..., :1]], -1) for each in (prediction, target)]
    expected = value(ReadDigits(positions=2), prediction, target)
    np.testing.assert_array_equal(value(ReadDigits(positions=2), *with_result), expected)


def test_pairs_are_measured_by_their_error_shares_of_wrong_results_and_their_digits():
    assert [(m.name, m.shape) for m in PAIR_MEASURES] == [
        ("mse", ()),
        ("wrong", ()),
        ("wrong_5dp", ()),
        ("wrong_rounded", ()),
        ("wrong_whole", ()),
        ("digits", (2, 10, 10)),
    ]


@pytest.mark.parametrize("measure", [*PAIR_MEASURES, SequenceError(), ErrorByLength(), CountedDigits()])
def test_a_run_does_not_see_the_others(measure):
    shape = (3,) if measure in PAIR_MEASURES else (1, 1)
    prediction, target = pair(3, N, *shape)
    alone = [measure.total(prediction[k : k + 1], target[k : k + 1]) for k in range(3)]
    assert torch.equal(measure.total(prediction, target), torch.cat(alone))
