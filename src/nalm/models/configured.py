"""A unit configured by an LSTM: its parameters are learnt functions of the LSTM's output.

Trask et al. 2018, section 4.4: the LSTM reads a program step by step and controls a NALU that sees the
numbers. At each step every sample has its own unit; together they are one unit with a batch shape.

Deviations: the state that is carried from step to step is the LSTM's alone. Appendix E calls the model a
recurrent NALU, whose own state would be a second one; the paper does not specify it. A network that keeps one
gives the last output back as part of `input`. Neither text specifies the functions that give the parameters:
here they are linear. With `projected`, which is ours, the parameters are moved into the unit's admissible
set, as they would be after an optimiser's step, and gradients pass straight through.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from nalm.errors import ArgumentError, check_positive
from nalm.models.many import Parameters, apply
from nalm.models.spec import ModelSpec
from nalm.units import Unit

State = tuple[Tensor, Tensor]


class ConfiguredByLSTM(nn.Module):
    """A unit whose raw parameters are linear functions of an LSTM's hidden state.

    Args:
        unit: name of the unit, such as "nalu" or "nau".
        control_size: number of values that the LSTM reads at each step.
        in_features: number of values that the unit sees.
        out_features: number of outputs.
        hidden_size: size of the LSTM's state.
        projected: whether computed parameters are moved into the unit's admissible set, such as [-1, 1].
        device: where the parameters live.
        dtype: precision of the parameters.

    The bias of the linear map is drawn like the unit's own initial parameters, so that an untrained module
    starts where the unit alone would start.
    """

    def __init__(
        self,
        unit: str,
        control_size: int,
        in_features: int,
        out_features: int,
        *,
        hidden_size: int = 32,
        projected: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        control_size = check_positive("control_size", control_size)
        self.lstm = nn.LSTMCell(control_size, check_positive("hidden_size", hidden_size), **factory)
        if not isinstance(unit, str):
            raise ArgumentError("unit", "the name of a unit", repr(unit))
        spec = ModelSpec.parse(unit)
        if len(spec.units) > 1:
            raise ArgumentError("unit", "one unit", repr(unit))
        made = spec.build(in_features, out_features, batch_shape=(1,), device="meta", dtype=dtype)
        assert isinstance(made, Unit)
        self.in_features, self.projected = made.in_features, projected
        self._unit = [made]  # in a list, so that its parameters, which are computed, are not registered
        self._shapes = {name: parameter.shape[1:] for name, parameter in made.named_parameters()}
        self.configure = nn.ModuleDict(
            {name: nn.Linear(hidden_size, shape.numel(), **factory) for name, shape in self._shapes.items()}
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again."""
        unit = self._unit[0]
        self.lstm.reset_parameters()
        for name in self._shapes:
            linear = self.configure[name]
            assert isinstance(linear, nn.Linear)
            linear.reset_parameters()
            with torch.no_grad():
                linear.bias.copy_(unit.initialisers[name](torch.rand_like(linear.bias)))

    def forward(self, control: Tensor, input: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """One step: control `batch x control_size`, input `batch x in`, to output `batch x out` and state."""
        for name, given, size in (
            ("control", control, self.lstm.input_size),
            ("input", input, self.in_features),
        ):
            if given.dim() != 2 or given.shape[0] != control.shape[0] or given.shape[1] != size:
                expected = f"of shape {control.shape[0]} x {size}, one row per sample"
                raise ArgumentError(name, expected, f"shape {tuple(given.shape)}")
        hidden, memory = self.lstm(control, state)
        parameters = {
            name: self.configure[name](hidden).unflatten(-1, tuple(shape))
            for name, shape in self._shapes.items()
        }
        unit = self._unit[0].train(self.training)
        if self.projected:
            parameters = self._admissible(parameters)
        return functional_call(unit, parameters, (input[:, None, :],))[:, 0, :], (hidden, memory)

    def _admissible(self, parameters: Parameters) -> Parameters:
        """The nearest parameters that the unit admits; the gradient is that of the parameters themselves."""
        moved = {name: p.detach().clone() for name, p in parameters.items()}
        apply(self._unit[0], moved, _project_)
        return {name: p + (moved[name] - p).detach() for name, p in parameters.items()}


def _project_(unit: nn.Module) -> None:
    assert isinstance(unit, Unit)
    unit.project_()
