r"""A network that reads a sentence word by word: embedding, LSTM, then the unit under test.

.. math:: y = u\Big(\sum_t h_t\Big) \;\text{or}\; y = u(h_T), \qquad h_t, c_t = LSTM(w_t, h_{t-1}, c_{t-1})

Trask et al. 2018, section 4.3 and appendix D: the unit u sees the sum of all states, or the last.

A word is a one-hot vector, and silence before a sentence is a vector of zeros. Silence keeps the LSTM at its
start: gates and candidate see zeros, so that cell and state stay exactly zero. Sentences of different lengths
then share one batch without masks. One-hot vectors instead of indices, because many models are applied at
once by a compiled product of matrices.

Ours: the sizes of embedding and state are equal, because the paper names one "layer size".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive


class WordReader(nn.Module):
    """Words to states of an LSTM, and the unit under test on what becomes of them.

    Args:
        words: the number of words in the vocabulary.
        size: values of an embedding and of a state.
        unit: from `size` values to the result.
        summed: whether the unit sees the sum of all states instead of the last one.
    """

    def __init__(self, words: int, size: int, unit: nn.Module, *, summed: bool = True) -> None:
        super().__init__()
        check_positive("words", words)
        check_positive("size", size)
        if getattr(unit, "in_features", size) != size:
            raise ArgumentError("unit", f"from {size} inputs", f"from {unit.in_features} inputs")
        self.embedding, self.lstm, self.unit = nn.Embedding(words, size), nn.LSTMCell(size, size), unit
        self.summed = summed

    def forward(self, sentences: Tensor) -> Tensor:
        """The result of each sentence: one-hot vectors `n x length x words` to `n x out`."""
        result: Tensor = self.unit(self.features(sentences))
        return result

    def features(self, sentences: Tensor) -> Tensor:
        """What the unit sees, `n x size`."""
        states = self.states(sentences)
        return torch.stack(states).sum(0) if self.summed else states[-1]

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
