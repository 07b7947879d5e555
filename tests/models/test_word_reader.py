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


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        ("outputs", lambda unit, first, last: unit(first) + unit(last)),
        ("summed", lambda unit, first, last: unit(first + last)),
        ("final", lambda unit, first, last: unit(last)),
    ],
)
def test_results_are_summed_or_states_or_the_last_state_counts(combine, expected):
    words, network = (3, 0), reader(combine=combine)
    torch.testing.assert_close(network(sentence(*words)), expected(network.unit, *by_torch(network, words)))


def test_a_pole_at_zero_does_no_harm_in_silence():
    network = WordReader(WORDS, SIZE, nalm.NALU(SIZE, 1)).double()
    with torch.no_grad():
        network.unit.w_hat.fill_(-50)
        network.unit.m_hat.fill_(50)
    result = network(sentence(2, length=5))
    torch.testing.assert_close(result, network(sentence(2, length=1)))
    result.sum().backward()
    assert all(p.grad.isfinite().all() for p in network.parameters())


def test_a_unit_of_another_size_is_refused():
    with pytest.raises(ArgumentError, match="from 4 inputs"):
        WordReader(WORDS, SIZE, nalm.NALU(5, 1))
