r"""A network that reads a sentence word by word: embedding, LSTM, then the unit under test.

.. math:: y = u\Big(\sum_t h_t\Big), \quad y = u(h_T) \quad\text{or}\quad y = \sum_t u(h_t)

with :math:`h_t, c_t = LSTM(w_t, h_{t-1}, c_{t-1})`. Trask et al. 2018, section 4.3 and appendix D, compare
the sum of all states with the last one, behind a linear layer. For a linear layer without bias, summing
states and summing results are the same. For a NALU they are not, and the paper does not say which it means;
its figure 3 shows results of the NALU after each word, which fits the sum of results.

A word is a one-hot vector, and silence before a sentence is a vector of zeros. Silence keeps the LSTM at its
start: gates and candidate see zeros, so that cell and state stay exactly zero. Sentences of different lengths
then share one batch without masks. One-hot vectors instead of indices, because many models are applied at
once by a compiled product of matrices.

Ours: the sizes of embedding and state are equal, because the paper names one "layer size".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice, check_positive

COMBINE = ("outputs", "summed", "final")
"""How the states of an LSTM become one result."""


class WordReader(nn.Module):
    """Words to states of an LSTM, and the unit under test on what becomes of them.

    Args:
        words: the number of words in the vocabulary.
        size: values of an embedding and of a state.
        unit: from `size` values to the result.
        combine: "outputs" if the unit sees each state and its results are summed, "summed" if it sees the sum
            of all states, "final" if it sees the last one.
    """

    def __init__(self, words: int, size: int, unit: nn.Module, *, combine: str = "outputs") -> None:
        super().__init__()
        check_positive("words", words)
        check_positive("size", size)
        if getattr(unit, "in_features", size) != size:
            raise ArgumentError("unit", f"from {size} inputs", f"from {unit.in_features} inputs")
        self.embedding, self.lstm, self.unit = nn.Embedding(words, size), nn.LSTMCell(size, size), unit
        self.combine = check_choice("combine", combine, COMBINE)

    def forward(self, sentences: Tensor) -> Tensor:
        """The result of each sentence: one-hot vectors `n x length x words` to `n x out`."""
        return self.total(self.unit(self.seen(sentences)), sentences)

    def seen(self, sentences: Tensor) -> Tensor:
        """What the unit sees, `n x times x size`; in silence ones, because some units have a pole at zero."""
        states = torch.stack(self.states(sentences), 1)
        if self.combine == "final":
            return states[:, -1:]
        if self.combine == "summed":
            return states.sum(1, keepdim=True)
        return torch.where(_spoken(sentences), states, torch.ones_like(states))

    def total(self, results: Tensor, sentences: Tensor) -> Tensor:
        """The result of each sentence, `n x out`, from the unit's on what it saw, `n x times x out`."""
        if self.combine == "outputs":
            results = torch.where(_spoken(sentences), results, torch.zeros_like(results))
        return results.sum(1)

    def states(self, sentences: Tensor) -> list[Tensor]:
        """The LSTM's state after each word, `n x size` each."""
        inputs = sentences @ self._of_words()
        state = memory = torch.zeros_like(inputs[:, 0, : self.lstm.hidden_size])
        states = []
        for k in range(inputs.shape[1]):
            # Before the first word the state is zero, and so is its product.
            given = inputs[:, k] + nn.functional.linear(state, self.lstm.weight_hh) if k else inputs[:, k]
            enter, keep, new, show = given.chunk(4, -1)
            memory = keep.sigmoid() * memory + enter.sigmoid() * new.tanh()
            state = show.sigmoid() * memory.tanh()
            states.append(state)
        return states

    def _of_words(self) -> Tensor:
        """What each word adds to gates and candidate, `words x 4 size`; silence adds nothing."""
        bias = self.lstm.bias_ih + self.lstm.bias_hh
        return nn.functional.linear(self.embedding.weight, self.lstm.weight_ih, bias)


def _spoken(sentences: Tensor) -> Tensor:
    """Where there is a word, `n x length x 1`."""
    return sentences.sum(-1, keepdim=True) > 0
