r"""UGRNN, the update gate recurrent network (Collins, Sohl-Dickstein & Sussillo 2017, equations 15-17).

.. math:: h_t = g_t h_{t-1} + (1 - g_t) \tanh(W [x_t, h_{t-1}] + b), \qquad g_t = \sigma(V [x_t, h_{t-1}] + d)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import check_positive


class UGRNN(nn.Module):
    """The update gate recurrent network along a sequence.

    Args:
        input_size: number of values at each step.
        hidden_size: size of the state.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = check_positive("hidden_size", hidden_size)
        self.both = nn.Linear(check_positive("input_size", input_size) + hidden_size, 2 * hidden_size)

    def forward(self, input: Tensor) -> tuple[Tensor, Tensor]:
        """All states `batch x time x hidden` and the last: input `batch x time x input_size`."""
        state, states = input.new_zeros(input.shape[0], self.hidden_size), []
        for step in input.unbind(1):
            gate, new = self.both(torch.cat([step, state], -1)).chunk(2, -1)
            gate = gate.sigmoid()
            state = gate * state + (1 - gate) * new.tanh()
            states.append(state)
        return torch.stack(states, 1), state
