import pickle

import pytest

from nalm.errors import ArgumentError, NalmError, check_choice, check_positive, nearest, unknown
from nalm.models import ExpressionError

UNITS = ("NAC", "NALU", "NAU", "NMU", "RealNPU")


def message(error):
    return str(error.value)


def test_an_argument_error_is_a_nalm_error_and_a_value_error():
    assert issubclass(ArgumentError, NalmError)
    assert issubclass(ArgumentError, ValueError)


def test_the_message_names_the_argument_the_expected_and_what_came():
    error = ArgumentError("rate", "above zero", -1)
    assert str(error) == "Argument `rate` must be above zero, but got -1."


def test_a_hint_follows_the_sentence():
    assert str(ArgumentError("rate", "above zero", -1, "Try 1.")).endswith("but got -1. Try 1.")


def test_without_a_hint_nothing_trails():
    assert (
        str(ArgumentError("rate", "above zero", -1)) == str(ArgumentError("rate", "above zero", -1)).strip()
    )


@pytest.mark.parametrize(
    ("word", "choice"),
    [("nalu", "NALU"), ("NMUU", "NMU"), ("realnpu", "RealNPU"), ("Real-NPU", "RealNPU"), ("NAU", "NAU")],
)
def test_the_nearest_choice_is_found_whatever_the_case(word, choice):
    assert nearest(word, UNITS) == choice


@pytest.mark.parametrize("word", ["", "zzzzzz", "transformer"])
def test_nothing_is_near_a_word_that_resembles_no_choice(word):
    assert nearest(word, UNITS) is None


def test_nothing_is_near_without_choices():
    assert nearest("NALU", ()) is None


@pytest.mark.parametrize("choice", UNITS)
def test_a_valid_choice_is_returned(choice):
    assert check_choice("unit", choice, iter(UNITS)) == choice


def test_a_wrong_choice_is_answered_with_all_choices_and_the_nearest():
    with pytest.raises(ArgumentError) as error:
        check_choice("unit", "NALUU", iter(UNITS))
    assert message(error) == (
        "Argument `unit` must be one of NAC, NALU, NAU, NMU, RealNPU, but got 'NALUU'. Did you mean 'NALU'?"
    )


def test_a_choice_of_the_wrong_case_is_wrong_but_suggested():
    with pytest.raises(ArgumentError, match=r"got 'nmu'\. Did you mean 'NMU'\?"):
        check_choice("unit", "nmu", UNITS)


def test_a_hopeless_choice_gets_no_suggestion():
    with pytest.raises(ArgumentError) as error:
        check_choice("unit", "zzz", UNITS)
    assert "Did you mean" not in message(error)


def test_a_choice_that_is_no_string_is_wrong():
    with pytest.raises(ArgumentError, match="`unit` must be one of NAC, NALU"):
        check_choice("unit", 3, UNITS)


def test_unknown_makes_the_error_without_raising_it():
    assert isinstance(unknown("unit", "NAL", UNITS), ArgumentError)


@pytest.mark.parametrize("value", [1, 2, 10**12])
def test_a_positive_whole_number_is_returned(value):
    assert check_positive("size", value) == value


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None])
def test_anything_else_is_not_a_positive_whole_number(value):
    with pytest.raises(ArgumentError) as error:
        check_positive("size", value)
    assert message(error) == f"Argument `size` must be a positive whole number, but got {value!r}."


def test_errors_cross_processes():
    error = pickle.loads(pickle.dumps(ExpressionError("1+", 3, "a number", "the end")))
    assert isinstance(error, ExpressionError)
    assert error.position == 3
    assert "at position 3, but got the end" in str(error)
