import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from nalm.errors import ArgumentError
from nalm.tasks import TEST_RANGES, Range
from nalm.tasks.known_ranges import parse_pair

NINE = {
    "-20:-10": "-40:-20",
    "-2:-1": "-6:-2",
    "-1.2:-1.1": "-6.1:-1.2",
    "-0.2:-0.1": "-2:-0.2",
    "-2:2": "-6:-2|2:6",
    "0.1:0.2": "0.2:2",
    "1:2": "2:6",
    "1.1:1.2": "1.2:6",
    "10:20": "20:40",
}


@st.composite
def ranges(draw):
    """Unions of one to four intervals between -50 and 50, some of which touch."""
    ends = draw(st.lists(st.integers(-500, 500), min_size=2, max_size=8, unique=True))
    ends = sorted(ends)[: len(ends) // 2 * 2]
    return Range(tuple((low / 10, high / 10) for low, high in zip(ends[::2], ends[1::2])))


def average(span, function):
    """The mean of a function over the range by numerical integration."""
    total = sum(
        integrate.quad(function, low, high, points=[0] if low < 0 < high else None)[0]
        for low, high in span.segments
    )
    return total / sum(high - low for low, high in span.segments)


def samples(span, n=20_000, jumps=None, dtype=torch.float64):
    numbers = span.numbers(len(span.jumps) if jumps is None else jumps)
    tensors = {name: torch.tensor([value], dtype=dtype) for name, value in numbers.items()}
    u = torch.arange(n, dtype=dtype)[None] / n
    return Range.draw(u, tensors)[0].numpy()


# -- parsing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("1:2", ((1, 2),)),
        (" -1.2 : -1.1 ", ((-1.2, -1.1),)),
        ("-6:-2|2:6", ((-6, -2), (2, 6))),
        ("1e-3:.5", ((0.001, 0.5),)),
        ("0:1|1:2", ((0, 1), (1, 2))),
    ],
)
def test_intervals_and_unions_are_read(text, segments):
    assert Range.parse(text).segments == segments


@settings(deadline=None, derandomize=True)
@given(ranges())
def test_what_is_written_is_read_back(span):
    assert Range.parse(str(span)) == span


@pytest.mark.parametrize("text", ["", "1", "1-2", "a:b", "1:2:3", "1:2|", "inf:nan", "1:2,3:4"])
def test_what_is_no_interval_is_refused_with_an_example(text):
    with pytest.raises(
        ArgumentError, match=r"`range` must be low:high, or a union such as -6:-2\|2:6, but got"
    ):
        Range.parse(text)


def test_a_misspelt_range_is_answered_with_the_nearest():
    with pytest.raises(ArgumentError, match=r"Did you mean '1\.1:1\.2'\?"):
        parse_pair("1.1-1.2")


@pytest.mark.parametrize("text", ["2:1", "1:1", "-1:-2", "0:1|3:2"])
def test_reversed_and_empty_intervals_are_refused(text):
    with pytest.raises(ArgumentError, match="low < high"):
        Range.parse(text)


@pytest.mark.parametrize("text", ["1:3|2:4", "2:3|0:1", "0:5|1:2"])
def test_overlapping_and_unordered_intervals_are_refused(text):
    with pytest.raises(ArgumentError, match="ascending order that do not overlap"):
        Range.parse(text)


@pytest.mark.parametrize("segment", [(0.0, math.inf), (-math.inf, 0.0), (math.nan, 1.0)])
def test_infinite_intervals_are_refused(segment):
    with pytest.raises(ArgumentError, match="`range`"):
        Range((segment,))


def test_a_range_without_intervals_is_refused():
    with pytest.raises(ArgumentError, match="at least one interval"):
        Range(())


# -- the nine ranges -----------------------------------------------------------------------------


def test_there_are_nine_ranges_with_their_test_ranges():
    assert {name: str(span) for name, span in TEST_RANGES.items()} == NINE


@pytest.mark.parametrize(("train", "test"), NINE.items())
def test_a_known_range_brings_its_test_range(train, test):
    assert parse_pair(train) == (Range.parse(train), Range.parse(test))


def test_another_spelling_of_a_known_range_is_the_same_range():
    assert parse_pair("1.0:2.00") == parse_pair("1:2")


def test_a_written_test_range_takes_precedence():
    assert parse_pair("1:2=>-6:-2|7:8") == (Range.parse("1:2"), Range.parse("-6:-2|7:8"))


@pytest.mark.parametrize("text", ["3:4", "1:2.5", "1.0000001:2"])
def test_an_unknown_range_needs_its_test_range(text):
    with pytest.raises(ArgumentError, match="a known range, or train=>test") as error:
        parse_pair(text)
    assert "-20:-10" in str(error.value)


@pytest.mark.parametrize("text", ["1:2=>", "=>1:2", "1:2=>6:2"])
def test_both_sides_of_an_arrow_must_be_ranges(text):
    with pytest.raises(ArgumentError, match="`range`"):
        parse_pair(text)


# -- moments -------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=40)
@given(ranges())
def test_moments_are_integrals(span):
    assert span.mean() == pytest.approx(average(span, lambda x: x), rel=1e-7, abs=1e-7)
    assert span.mean_absolute() == pytest.approx(average(span, abs), rel=1e-7)
    for k in range(1, 5):
        assert span.moment(k) == pytest.approx(average(span, lambda x, k=k: x**k), rel=1e-7, abs=1e-5)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(ranges())
def test_the_inverse_square_is_an_integral_or_infinite_at_zero(span):
    if any(low <= 0 <= high for low, high in span.segments):
        assert span.mean_inverse_square() == math.inf
    else:
        assert span.mean_inverse_square() == pytest.approx(average(span, lambda x: x**-2), rel=1e-6)


def test_moments_by_hand():
    span = Range.parse("2:6")
    assert (span.low, span.span, span.mean(), span.mean_absolute()) == (2, 4, 4, 4)
    assert span.moment(2) == pytest.approx(52 / 3)
    assert span.mean_inverse_square() == pytest.approx(1 / 12)


# -- samples -------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=40)
@given(ranges())
def test_samples_lie_in_the_union_and_fill_every_interval_by_its_length(span):
    x = samples(span)
    inside = [((x >= low - 1e-9) & (x <= high + 1e-9)).mean() for low, high in span.segments]
    lengths = np.array([high - low for low, high in span.segments]) / span.span
    assert sum(inside) == pytest.approx(1, abs=1e-3)
    assert np.allclose(inside, lengths, atol=1e-3)
    assert x.mean() == pytest.approx(span.mean(), abs=1e-2)
    assert (x**2).mean() == pytest.approx(span.moment(2), rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("jumps", [1, 2, 5])
def test_room_for_more_gaps_changes_nothing(jumps):
    span = Range.parse("-6:-2|2:6")
    assert np.array_equal(samples(span, jumps=jumps), samples(span))


def test_both_segments_of_a_union_are_hit_and_the_gap_is_not():
    x = samples(Range.parse("-6:-2|2:6"), dtype=torch.float32)
    assert ((x >= -6) & (x < -2)).mean() == pytest.approx(0.5, abs=1e-3)
    assert ((x >= 2) & (x < 6)).mean() == pytest.approx(0.5, abs=1e-3)


def test_ranges_may_differ_from_model_to_model():
    spans = [Range.parse(text) for text in ("1:2", "-6:-2|2:6", "10:20")]
    numbers = [span.numbers(1) for span in spans]
    tensors = {name: torch.tensor([n[name] for n in numbers], dtype=torch.float64) for name in numbers[0]}
    u = torch.linspace(0, 0.999, 100, dtype=torch.float64).expand(3, 2, 100)
    x = Range.draw(u, tensors)
    for k, span in enumerate(spans):
        alone = {name: tensor[k : k + 1] for name, tensor in tensors.items()}
        assert torch.equal(x[k], Range.draw(u[k : k + 1], alone)[0])
        assert x[k].min() == span.low


def test_numbers_that_single_precision_cannot_compute_with_are_refused():
    with pytest.raises(ArgumentError, match="within -1e\\+09 and 1e\\+09"):
        parse_pair("1e300:1e301=>1:2")
