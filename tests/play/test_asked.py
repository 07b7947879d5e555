"""Requests: what is too much is refused with a sentence, however the request was made."""

from dataclasses import replace

import pytest

from nalm.errors import NalmError
from nalm.play.asked import (
    MOST_BYTES,
    MOST_INPUTS,
    MOST_ROWS,
    MOST_SEARCH_SECONDS,
    MOST_SEEDS,
    MOST_STEPS,
    Columns,
    Fitting,
    Training,
)

LARGEST = Training(inputs=MOST_INPUTS, seeds=MOST_SEEDS, steps=MOST_STEPS)


def test_what_is_usual_and_what_is_just_allowed_is_accepted(tmp_path):
    Training().check()
    LARGEST.check()
    rows = b"a,b\n" + b"1,2\n" * MOST_ROWS
    Fitting(rows, tmp_path, target="b", seconds=MOST_SEARCH_SECONDS).check()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("seeds", MOST_SEEDS + 1),
        ("seeds", 0),
        ("seeds", True),
        ("seeds", "3"),
        ("seeds", None),
        ("seeds", 2.5),
        ("seeds", float("inf")),
        ("inputs", MOST_INPUTS + 1),
        ("inputs", 1),
        ("steps", MOST_STEPS + 1),
        ("steps", -1),
        ("first_seed", -1),
        ("first_seed", 10**9),
        ("unit", None),
        ("unit", "x" * 10_000),
        ("range", ["1:2"]),
        ("op", ""),
    ],
)
def test_a_training_that_is_too_much_or_of_the_wrong_kind_is_refused(argument, value):
    with pytest.raises(NalmError, match=argument.replace("_", " ")) as caught:
        replace(LARGEST, **{argument: value}).check()
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("seconds", [0, MOST_SEARCH_SECONDS + 1, 1e9, None])
def test_a_search_without_end_is_refused(tmp_path, seconds):
    with pytest.raises(NalmError, match="seconds"):
        Fitting(b"a,b\n1,2\n", tmp_path, target="b", seconds=seconds).check()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no rows yet"),
        (b" \n\n", "no rows yet"),
        (b"1" * (MOST_BYTES + 1), "bytes"),
        (b"1\n" * (MOST_ROWS + 2), "rows"),
        (b"1\r" * (MOST_ROWS + 2), "rows"),
        (b"PAR1....", "Parquet"),
    ],
)
def test_rows_that_are_too_many_or_none_are_refused(tmp_path, data, said):
    with pytest.raises(NalmError, match=said):
        Columns(data, tmp_path).check()


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "..", "", "a\0b", "x" * 300])
def test_a_file_cannot_be_put_elsewhere(tmp_path, name):
    with pytest.raises(NalmError, match="name"):
        Columns(b"a,b\n1,2\n", tmp_path, name).check()
