"""Baselines of the papers: ordinary networks, without batch shape, that the units are compared with.

The linear layer with its variants and the quadratic layer are units: `nalm.Linear`, `nalm.Quadratic`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.units._activations import crelu


class CReLU(nn.Module):
    """max(x, 0) and max(-x, 0) side by side, which doubles the width (Trask et al. 2018, tables 6 and 7)."""

    def forward(self, input: Tensor) -> Tensor:
        """`... x n` to `... x 2n`."""
        return crelu(input)


ACTIVATIONS: dict[str, type[nn.Module]] = {
    "hardtanh": nn.Hardtanh,
    "relu6": nn.ReLU6,
    "softsign": nn.Softsign,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "threshold": nn.Threshold,
    "selu": nn.SELU,
    "elu": nn.ELU,
    "softshrink": nn.Softshrink,
    "relu": nn.ReLU,
    "leakyrelu": nn.LeakyReLU,
    "tanhshrink": nn.Tanhshrink,
    "softplus": nn.Softplus,
    "prelu": nn.PReLU,
    "crelu": CReLU,
    "none": nn.Identity,
}
"""The activations of Trask et al. 2018, table 5, and CReLU of table 6."""

PRESETS: dict[str, tuple[int, ...]] = {
    "mistry2023:1.4.1-narrow": (1,),
    "mistry2023:1.4.1-wide": (100,),
    "mistry2023:5.10.1": (256, 256),
    "mistry2023:7.2.1": (16, 16, 16, 16, 16),
}
"""Hidden sizes of the thesis's networks, all with ReLU, by section."""


class MLP(nn.Module):
    """A network of linear layers with one activation between them.

    Args:
        in_features: number of inputs.
        out_features: number of outputs.
        hidden: sizes of the hidden layers, or one of `PRESETS`.
        activation: one of `ACTIVATIONS`.
        bias: whether the layers have biases.
        device: where the parameters live.
        dtype: precision of the parameters.

    torch's `Threshold` has no defaults: here it passes values above 0 and is 0 otherwise.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden: Sequence[int] | str = (8,),
        activation: str = "relu",
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(hidden, str):
            hidden = PRESETS[check_choice("hidden", hidden, PRESETS)]
        sizes = [check_positive("in_features", in_features), *(check_positive("hidden", h) for h in hidden)]
        check_positive("out_features", out_features)
        kind = ACTIVATIONS[check_choice("activation", activation, ACTIVATIONS)]
        factory: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        widening = 2 if kind is CReLU else 1
        layers: list[nn.Module] = []
        for before, after in zip([sizes[0], *(widening * size for size in sizes[1:])], sizes[1:]):
            layers += [nn.Linear(before, after, **factory), _activation(kind, device, dtype)]
        last = widening * sizes[-1] if len(sizes) > 1 else sizes[0]
        self.layers = nn.Sequential(*layers, nn.Linear(last, out_features, **factory))

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x out`."""
        result: Tensor = self.layers(input)
        return result


class FCProduct(nn.Module):
    """Product of weighted inputs, prod_i W_i x_i, initialised like the NMU (thesis, section 4.6.1.1)."""

    ops: ClassVar[tuple[str, ...]] = ("mul",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        shape = (check_positive("out_features", out_features), check_positive("in_features", in_features))
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights uniformly from (0.25, 0.75)."""
        nn.init.uniform_(self.weight, 0.25, 0.75)

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x out`."""
        return self.weight.prod(-1) * input.prod(-1, keepdim=True)


class Solved(nn.Module):
    """Base of operations that are computed as they are, with nothing to learn.

    Args:
        in_features: number of inputs.
        out_features: number of outputs, 1.
    """

    def __init__(self, in_features: int = 2, out_features: int = 1) -> None:
        super().__init__()
        if out_features != 1:
            raise ArgumentError("out_features", "1, because a solved operation has one output", out_features)
        self.in_features, self.out_features = in_features, out_features


class SolvedAdd(Solved):
    """The sum of all inputs, nothing to learn: the reference of Madsen & Johansen 2020, appendix D."""

    ops: ClassVar[tuple[str, ...]] = ("add",)

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x 1`."""
        return input.sum(-1, keepdim=True)


class SolvedMul(Solved):
    """The product of all inputs, nothing to learn: MUL of the thesis, section 4.6.1.1."""

    ops: ClassVar[tuple[str, ...]] = ("mul",)

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x 1`."""
        return input.prod(-1, keepdim=True)


class SolvedDiv(Solved):
    """The first input divided by the second, nothing to learn: DIV of the thesis, section 5.10.1."""

    ops: ClassVar[tuple[str, ...]] = ("div",)

    def forward(self, input: Tensor) -> Tensor:
        """`... x 2` to `... x 1`."""
        if input.shape[-1] != 2:
            raise ArgumentError("input", "of last dimension 2", f"shape {tuple(input.shape)}")
        return input[..., :1] / input[..., 1:]


_NETWORKS: dict[str, Callable[..., nn.RNNBase]] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


class SequenceModel(nn.Module):
    """An LSTM, GRU or RNN with a linear read-out of its last state, or of the sum of its states.

    Args:
        kind: "lstm", "gru" or "rnn".
        in_features: number of values at each step.
        out_features: number of outputs.
        hidden_size: size of the state.
        read: "final" for the last state, "summed" for the sum over time.
        device: where the parameters live.
        dtype: precision of the parameters.
    """

    def __init__(
        self,
        kind: str,
        in_features: int,
        out_features: int,
        *,
        hidden_size: int = 32,
        read: str = "final",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        network = _NETWORKS[check_choice("kind", kind, _NETWORKS)]
        self.read = check_choice("read", read, ("final", "summed"))
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        sizes = (check_positive("in_features", in_features), check_positive("hidden_size", hidden_size))
        self.network = network(*sizes, batch_first=True, **factory)
        self.output = nn.Linear(hidden_size, check_positive("out_features", out_features), **factory)

    def forward(self, input: Tensor) -> Tensor:
        """`batch x time x in` to `batch x out`."""
        states, _ = self.network(input)
        result: Tensor = self.output(states[:, -1] if self.read == "final" else states.sum(1))
        return result


def _activation(
    kind: type[nn.Module], device: torch.device | str | None, dtype: torch.dtype | None
) -> nn.Module:
    if kind is nn.Threshold:
        return nn.Threshold(0.0, 0.0)
    return nn.PReLU(device=device, dtype=dtype) if kind is nn.PReLU else kind()
