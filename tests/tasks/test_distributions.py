"""Distributions beside the uniform one: samples and moments against scipy and definition, names."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from nalm.errors import ArgumentError
from nalm.tasks import RANGE_SETS, RANGES, Benford, ByInput, Range, SingleModule, Split, TruncatedNormal
from nalm.tasks.known_ranges import expand_ranges, parse, parse_pair

N = 20_000
NORMAL = [d for name in ("tn-minus-1", "tn-0", "tn-1") for d in RANGES[name]]


def samples(distribution, inputs=1, dtype=torch.float64):
    """N samples of each input at equally spaced uniform numbers."""
    numbers = distribution.numbers(1)
    tensors = {name: torch.tensor([value], dtype=dtype) for name, value in numbers.items()}
    u = ((torch.arange(N, dtype=dtype) + 0.5) / N).expand(1, inputs, N)
    return distribution.draw(u, tensors)[0].numpy()


def scipys(d):
    return stats.truncnorm((d.low - d.mean) / d.sd, (d.high - d.mean) / d.sd, loc=d.mean, scale=d.sd)


# -- truncated normal ----------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", NORMAL, ids=str)
def test_a_truncated_normal_has_scipys_quantiles(distribution):
    u = (np.arange(N) + 0.5) / N
    np.testing.assert_allclose(samples(distribution)[0], scipys(distribution).ppf(u), atol=1e-6)


@pytest.mark.parametrize("distribution", NORMAL, ids=str)
def test_a_truncated_normal_stays_in_its_interval_in_single_precision(distribution):
    x = samples(distribution, dtype=torch.float32)
    assert distribution.low <= x.min()
    assert x.max() <= distribution.high


def test_a_truncated_normal_is_never_exactly_zero():
    distribution = RANGES["tn-minus-1"][0]
    numbers = {k: torch.tensor([v], dtype=torch.float32) for k, v in distribution.numbers(0).items()}
    u = (torch.arange(2**23, dtype=torch.float32) + 0.5) * 2.0**-23
    assert (distribution.draw(u.reshape(1, 1, -1), numbers) != 0).all()


@pytest.mark.parametrize("distribution", NORMAL, ids=str)
def test_the_moments_of_a_truncated_normal_are_scipys(distribution):
    known = scipys(distribution)
    assert distribution.moment(2) == pytest.approx(known.expect(lambda x: x**2), rel=1e-6)
    assert distribution.mean_absolute() == pytest.approx(known.expect(abs), rel=1e-6)
    inverse = distribution.mean_inverse_square()
    if distribution.touches_zero():
        assert inverse == math.inf
    else:
        assert inverse == pytest.approx(known.expect(lambda x: x**-2), rel=1e-6)


# -- Benford -------------------------------------------------------------------------------------


@pytest.mark.parametrize("low", [1, 10, 100])
def test_leading_digits_follow_benfords_law_and_the_others_are_uniform(low):
    x = samples(Benford(low, 10 * low))[0]
    assert set(x) <= set(range(low, 10 * low))
    digits = np.floor(x / low)
    for d in range(1, 10):
        assert (digits == d).mean() == pytest.approx(math.log10(1 + 1 / d), abs=2e-4)
    if low > 1:
        last = np.bincount((x % 10).astype(int), minlength=10) / N
        np.testing.assert_allclose(last, 0.1, atol=0.01)


@pytest.mark.parametrize("low", [10, 100])
def test_benfords_moments_are_those_of_its_samples(low):
    distribution, x = Benford(low, 10 * low), samples(Benford(low, 10 * low))[0]
    assert distribution.moment(0) == pytest.approx(1)
    for k in (1, 2, -2):
        assert distribution.moment(k) == pytest.approx((x**k).mean(), rel=2e-3)
    assert distribution.mean_inverse_square() == distribution.moment(-2)


def test_no_number_is_lost_to_rounding_in_single_precision():
    assert set(samples(Benford(10, 100), dtype=torch.float32)[0]) == set(range(10, 100))


@pytest.mark.parametrize(("low", "high"), [(10, 1000), (20, 200), (5, 50), (0, 10)])
def test_benford_is_for_numbers_of_one_length(low, high):
    with pytest.raises(ArgumentError, match="from a power of ten to the next"):
        Benford(low, high)


# -- one distribution for each input -------------------------------------------------------------


def test_inputs_take_turns():
    x = samples(parse("-2:-1&1:2"), inputs=5)
    assert [bool((row > 0).all()) for row in x] == [False, True, False, True, False]
    assert all(((abs(row) >= 1) & (abs(row) < 2)).all() for row in x)


def test_all_inputs_are_of_one_kind():
    with pytest.raises(ArgumentError, match="of the same kind"):
        parse("1:2&benford(10:100)")


# -- names (thesis, tables 5.2 and 5.3, section 5.8.2) -------------------------------------------

WRITTEN = {
    "mixed-1": "-2:-0.1&0.1:2=>-6:-2&2:6",
    "mixed-2": "-2:-1&1:2=>-6:-2&2:6",
    "mixed-3": "-2:2&-2:2=>-6:-2&2:6",
    "mixed-4": "0.1:2&-2:-0.1=>2:6&-6:-2",
    "mixed-5": "1:2&-2:-1=>2:6&-6:-2",
    "tn-minus-1": "tn(-1;3;-5:10)=>tn(-10;3;-15:-5)",
    "tn-0": "tn(0;1;-5:5)=>tn(10;1;5:15)",
    "tn-1": "tn(1;3;-10:5)=>tn(10;3;5:15)",
    "benford": "benford(10:100)=>benford(100:1000)",
    "-100:100": "-100:100=>-200:-100|100:200",
    "-50:50": "-50:50=>-100:-50|50:100",
    "0:1e-4": "0:0.0001=>0:0.0001",
}


@pytest.mark.parametrize(("name", "written"), WRITTEN.items())
@pytest.mark.parametrize("split", [Split.TRAIN, Split.TEST])
def test_a_name_stands_for_what_the_thesis_draws_from(name, written, split):
    by_name, by_text = SingleModule("div", name), SingleModule("div", written)
    assert by_name.numbers(0, split) == by_text.numbers(0, split)
    assert by_name.shape() == by_text.shape()


def test_the_name_of_a_set_stands_for_all_its_members():
    assert expand_ranges(["mixed-sign", "1:2"]) == [*RANGE_SETS["mixed-sign"], "1:2"]


def test_of_two_names_for_a_training_range_the_nine_come_first():
    assert parse_pair("-2:2") == (Range.parse("-2:2"), Range.parse("-6:-2|2:6"))


@pytest.mark.parametrize(
    ("text", "hint"), [("mixed-6", "mixed-5"), ("benfort", "benford"), ("mixed-sing", "mixed-sign")]
)
def test_a_misspelt_name_brings_the_nearest(text, hint):
    with pytest.raises(ArgumentError, match=f"Did you mean '{hint}'"):
        parse_pair(text)


@pytest.mark.parametrize(
    "text", ["tn(1;2)", "tn(a;1;0:1)", "benford(1:2:3)", "tn(0;-1;0:1)", "tn(0;1;50:60)", "tn(0;1;4:10)"]
)
def test_a_distribution_that_is_none_is_refused(text):
    with pytest.raises(ArgumentError):
        parse_pair(f"{text}=>1:2")


def test_training_and_test_are_of_one_kind():
    with pytest.raises(ArgumentError, match="of the same kind in training and test"):
        parse_pair("benford(10:100)=>20:40")


# -- in a task -----------------------------------------------------------------------------------


def simulated(op, task, n=400_000):
    """The error of the epsilon-perfect model by simulation (thesis, section 3.3.1)."""
    generator, epsilon = np.random.default_rng(0), 1e-5
    columns = []
    for k in range(task.inputs):
        d = task.test_range.of_input(k)
        if isinstance(d, TruncatedNormal):
            columns.append(scipys(d).rvs(n, random_state=generator))
        elif isinstance(d, Benford):
            values = np.arange(d.low, d.high)
            share = np.log10(1 + 1 / (values // d.low)) / d.low
            columns.append(generator.choice(values, n, p=share).astype(float))
        else:
            ((low, high),) = d.segments
            columns.append(generator.uniform(low, high, n))
    a, b, *rest = columns
    if op == "add":
        return ((epsilon * sum(map(abs, columns))) ** 2).mean()
    factor = (1 - epsilon) ** 2 if op == "mul" else (1 - epsilon) / (1 + epsilon)
    for x in rest:
        factor = factor * (1 - epsilon * abs(x))
    target = a * b if op == "mul" else a / b
    return ((target * (1 - factor)) ** 2).mean()


@pytest.mark.parametrize("name", ["mixed-1", "mixed-5", "tn-minus-1", "tn-0", "benford"])
@pytest.mark.parametrize("op", ["add", "mul", "div"])
@pytest.mark.parametrize("inputs", [2, 10])
def test_the_threshold_is_the_error_of_the_epsilon_perfect_model(name, op, inputs):
    task = SingleModule(op, name, inputs=inputs)
    assert task.threshold() == pytest.approx(simulated(op, task), rel=0.03, abs=0)


@pytest.mark.parametrize("name", RANGE_SETS["near-zero"])
def test_a_quotient_close_to_zero_has_no_threshold_of_its_own(name):
    assert SingleModule("div", name).threshold() is None
    assert SingleModule("mul", name).threshold() is not None


@pytest.mark.parametrize("name", ["mixed-3", "tn-0", "benford"])
def test_kinds_do_not_share_a_program(name):
    assert SingleModule("div", name).shape() != SingleModule("div", "1:2").shape()


def test_by_input_is_written_and_read_again():
    drawn = parse("1:2&-2:-1")
    assert isinstance(drawn, ByInput)
    assert parse(str(drawn)) == drawn
