"""The reader of words: torch's LSTM as the reference, silence, and what the unit sees."""

import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.models.word_reader import WordReader

WORDS, SIZE = 6, 4


def reader(**options):
    torch.manual_seed(0)
    return WordReader(WORDS, SIZE, nn.Linear(SIZE, 1), **options).double()


def sentence(*words, length=3):
    vectors = torch.zeros(1, length, WORDS, dtype=torch.float64)
    for place, word in enumerate(words, start=length - len(words)):
        vectors[0, place, word] = 1
    return vectors


def by_torch(network, words):
    """The states by torch's own cell."""
    state, states = None, []
    for word in words:
        state = network.lstm(network.embedding(torch.tensor([word])), state)
        states.append(state[0])
    return states


@pytest.mark.parametrize("words", [(2,), (0, 5), (1, 1, 4)])
def test_states_are_those_of_torchs_lstm_and_silence_leaves_the_start_alone(words):
    network = reader()
    states, expected = network.states(sentence(*words)), by_torch(network, words)
    silent = len(states) - len(words)
    assert all(state.eq(0).all() for state in states[:silent])
    for ours, theirs in zip(states[silent:], expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_unit_sees_the_sum_of_all_states_or_the_last():
    words = (3, 0)
    summed, final = reader(summed=True), reader(summed=False)
    states = by_torch(summed, words)
    torch.testing.assert_close(summed(sentence(*words)), summed.unit(states[0] + states[1]))
    torch.testing.assert_close(final(sentence(*words)), final.unit(states[1]))


def test_a_unit_of_another_size_is_refused():
    with pytest.raises(ArgumentError, match="from 4 inputs"):
        WordReader(WORDS, SIZE, nalm.NALU(5, 1))
