"""Numbers in words: every number against an independent reference, and sentences as one-hot vectors."""

import pytest
import torch
from num2words import num2words

from nalm.errors import ArgumentError
from nalm.tasks.language.words import LIMIT, LONGEST, VOCABULARY, one_hot, words_of


def test_every_number_reads_as_num2words_says():
    for number in range(LIMIT):
        assert " ".join(words_of(number)) == num2words(number).replace("-", " ")


def test_the_longest_number_has_five_words_and_every_word_occurs():
    sentences = [words_of(number) for number in range(LIMIT)]
    assert max(map(len, sentences)) == LONGEST
    assert {word for words in sentences for word in words} == set(VOCABULARY)


@pytest.mark.parametrize("number", [-1, LIMIT, 1.0, True])
def test_other_numbers_are_refused(number):
    with pytest.raises(ArgumentError, match="from 0 to 999"):
        words_of(number)


def test_a_sentence_has_silence_before_it():
    vectors = one_hot(["eighty", "eight"])
    assert vectors.shape == (LONGEST, len(VOCABULARY))
    assert vectors[: LONGEST - 2].eq(0).all()
    assert [VOCABULARY[k] for k in vectors[-2:].argmax(-1)] == ["eighty", "eight"]
    assert vectors.sum(-1).tolist() == [0, 0, 0, 1, 1]
    assert torch.equal(one_hot(["eighty", "eight"], 7)[2:], vectors)


@pytest.mark.parametrize(
    ("words", "hint"), [(["fourty"], "forty"), ([], "one to 5"), (["and"] * 6, "6 words")]
)
def test_what_is_no_sentence_is_refused(words, hint):
    with pytest.raises(ArgumentError, match=hint):
        one_hot(words)
