"""Recurrent networks in place of a recurrent cell made of a unit: LSTM, GRU, Elman's network, UGRNN, DNC."""

from __future__ import annotations

from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.models.dnc import DNC
from nalm.models.ugrnn import UGRNN


class SequenceBaseline(nn.Module):
    """A recurrent network in place of a cell, with a linear read-out of its state after every step.

    A cell takes its input and its state side by side, so `in_features` counts both here as well; the network
    has a state of its own and takes the other `in_features - out_features` values at each step.

    Args:
        in_features: number of values at each step, plus `out_features`.
        out_features: number of outputs.
        hidden_size: size of the network's own state.
    """

    def __init__(self, in_features: int, out_features: int, *, hidden_size: int = 32) -> None:
        super().__init__()
        check_positive("out_features", out_features)
        inputs = check_positive("in_features - out_features", in_features - out_features)
        self.in_features, self.out_features = in_features, out_features
        self.network = self.make(inputs, check_positive("hidden_size", hidden_size))
        self.output = self.make_output(hidden_size)

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network: a sequence to its states, batch first, and anything else."""
        raise NotImplementedError

    def make_output(self, hidden_size: int) -> nn.Module:
        """The read-out, from what the network gives at a step to the outputs."""
        return nn.Linear(hidden_size, self.out_features)

    def forward(self, input: Tensor) -> Tensor:
        """`batch x time x (in_features - out_features)` to `batch x time x out_features`."""
        if input.dim() != 3:
            expected = "sequences `batch x time x values`: it replaces a recurrent cell, not a unit"
            raise ArgumentError("input", expected, f"shape {tuple(input.shape)}")
        states, _ = self.network(input)
        result: Tensor = self.output(states)
        return result


class LSTM(SequenceBaseline):
    """Long short-term memory in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return nn.LSTM(inputs, hidden_size, batch_first=True)


class GRU(SequenceBaseline):
    """Gated recurrent unit in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return nn.GRU(inputs, hidden_size, batch_first=True)


class TanhRNN(SequenceBaseline):
    """Elman's recurrent network with tanh in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return nn.RNN(inputs, hidden_size, batch_first=True)


class ReLURNN(SequenceBaseline):
    """Elman's recurrent network with ReLU in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return nn.RNN(inputs, hidden_size, nonlinearity="relu", batch_first=True)


class UGRNNBaseline(SequenceBaseline):
    """Update gate recurrent network in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return UGRNN(inputs, hidden_size)


class DNCBaseline(SequenceBaseline):
    """Differentiable neural computer in place of a cell."""

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The recurrent network."""
        return DNC(inputs, hidden_size)

    def make_output(self, hidden_size: int) -> nn.Module:
        """The read-out sees the LSTM's state and what was read from the memory."""
        assert isinstance(self.network, DNC)
        return super().make_output(self.network.output_size)
