"""DNC, the differentiable neural computer: an LSTM with a memory to write and to read (Graves et al. 2016).

At each step the LSTM sees the input and what was read before, and its state gives, by one linear layer, the
interface to a memory of `cells` rows of `width` values: what to erase and write, where (by content, or where
memory is free), and what to read (by content, or the row written before or after the one read last). The
output is the LSTM's state beside what was read. Equations are numbered as in the paper's methods.

Deviations: one read head. The paper's output is a linear layer of state and reading; that layer is the
caller's.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from nalm.errors import check_positive

_SMALL = 1e-6


class Memory(NamedTuple):
    """What is kept from step to step, `batch x ...`."""

    rows: Tensor
    usage: Tensor
    precedence: Tensor
    links: Tensor
    written: Tensor
    looked: Tensor
    reading: Tensor


class DNC(nn.Module):
    """A differentiable neural computer along a sequence.

    Args:
        input_size: number of values at each step.
        hidden_size: size of the LSTM's state.
        cells: rows of the memory.
        width: values of a row.
    """

    def __init__(self, input_size: int, hidden_size: int, *, cells: int = 16, width: int = 8) -> None:
        super().__init__()
        self.cells, self.width = check_positive("cells", cells), check_positive("width", width)
        inputs = check_positive("input_size", input_size) + width
        self.lstm = nn.LSTMCell(inputs, check_positive("hidden_size", hidden_size))
        # Keys and strengths of reading and writing, erase and write vectors, three gates, three read modes.
        self.sizes = (width, 1, width, 1, width, width, 1, 1, 1, 3)
        self.interface = nn.Linear(hidden_size, sum(self.sizes))

    @property
    def output_size(self) -> int:
        """Values of an output: the LSTM's state and what was read."""
        return self.lstm.hidden_size + self.width

    def forward(self, input: Tensor) -> tuple[Tensor, Memory]:
        """Outputs `batch x time x output_size` and the last memory: input `batch x time x input_size`."""
        memory, state, outputs = self._empty(input), None, []
        for step in input.unbind(1):
            state = self.lstm(torch.cat([step, memory.reading], -1), state)
            memory = self._turn(memory, self.interface(state[0]))
            outputs.append(torch.cat([state[0], memory.reading], -1))
        return torch.stack(outputs, 1), memory

    def _empty(self, input: Tensor) -> Memory:
        batch, n = input.shape[0], self.cells
        zeros = input.new_zeros
        flat = [zeros(batch, n) for _ in range(4)]
        return Memory(
            zeros(batch, n, self.width), flat[0], flat[1], zeros(batch, n, n), flat[2], flat[3],
            zeros(batch, self.width),
        )  # fmt: skip

    def _turn(self, memory: Memory, interface: Tensor) -> Memory:
        """Write, then read."""
        (read_key, read_strength, write_key, write_strength, erase, vector, free, allocate, write, modes) = (
            interface.split(self.sizes, -1)
        )
        usage = self._usage(memory, free.sigmoid())
        by_content = _by_content(memory.rows, write_key, write_strength)
        gate = allocate.sigmoid()
        written = write.sigmoid() * (gate * _allocation(usage) + (1 - gate) * by_content)
        kept = 1 - written[..., None] * erase.sigmoid()[:, None]
        rows = memory.rows * kept + written[..., None] * vector[:, None]
        links = self._links(memory, written)
        precedence = (1 - written.sum(-1, keepdim=True)) * memory.precedence + written
        before, after = (torch.einsum(order, links, memory.looked) for order in ("bij,bi->bj", "bij,bj->bi"))
        ways = torch.stack([before, _by_content(rows, read_key, read_strength), after], 1)
        looked = (modes.softmax(-1)[..., None] * ways).sum(1)
        reading = torch.einsum("bn,bnw->bw", looked, rows)
        return Memory(rows, usage, precedence, links, written, looked, reading)

    def _usage(self, memory: Memory, free: Tensor) -> Tensor:
        """Which rows are in use: those written, unless what was read there is freed (equations 1, 2)."""
        used = memory.usage + memory.written - memory.usage * memory.written
        return used * (1 - free * memory.looked)

    def _links(self, memory: Memory, written: Tensor) -> Tensor:
        """How much row i was written right after row j (equation 5)."""
        stay = 1 - written[:, :, None] - written[:, None, :]
        links = stay * memory.links + written[:, :, None] * memory.precedence[:, None, :]
        return links * (1 - torch.eye(self.cells, dtype=links.dtype, device=links.device))


def _by_content(rows: Tensor, key: Tensor, strength: Tensor) -> Tensor:
    """How similar each row is to the key, by the cosine, as weights: `batch x cells`."""
    likeness = (rows * key[:, None]).sum(-1) / (_norm(rows) * _norm(key)[:, None])
    return (likeness * (1 + nn.functional.softplus(strength))).softmax(-1)


def _norm(vectors: Tensor) -> Tensor:
    """The length of vectors, at least 0.001: a row with a mere trace of a vector is not like that vector."""
    return (vectors.square().sum(-1) + _SMALL).sqrt()


def _allocation(usage: Tensor) -> Tensor:
    """Weights on the rows that are least in use (equation 3)."""
    used, order = (_SMALL + (1 - _SMALL) * usage).sort(-1)
    before = torch.cat([torch.ones_like(used[:, :1]), used.cumprod(-1)[:, :-1]], -1)
    return ((1 - used) * before).gather(-1, order.argsort(-1))
