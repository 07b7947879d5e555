"""The division of all numbers into those to train, to validate and to test on."""

import pytest

from nalm.tasks import Split
from nalm.tasks.language.numbers import ALWAYS_TRAINED, SHOWN, numbers_of
from nalm.tasks.language.words import LIMIT, VOCABULARY, words_of

SPLITS = (Split.TRAIN, Split.VALIDATION, Split.TEST)


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_the_splits_have_the_published_sizes_and_share_no_number(draw):
    parts = [numbers_of(split, draw) for split in SPLITS]
    assert [len(part) for part in parts] == [169, 200, 631]
    assert sorted(number for part in parts for number in part) == list(range(LIMIT))


@pytest.mark.parametrize("draw", range(20))
def test_training_has_the_first_twenty_numbers_and_every_word(draw):
    trained = numbers_of(Split.TRAIN, draw)
    assert set(ALWAYS_TRAINED) <= set(trained)
    assert {word for number in trained for word in words_of(number)} == set(VOCABULARY)


def test_the_numbers_of_figure_3_are_tested_and_never_trained_on():
    assert all(set(SHOWN) <= set(numbers_of(Split.TEST, draw)) for draw in range(5))


def test_another_draw_gives_another_division():
    assert numbers_of(Split.TRAIN, 0) != numbers_of(Split.TRAIN, 1)
