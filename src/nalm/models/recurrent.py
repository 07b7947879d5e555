"""Units in time: any unit as a recurrent cell, and a cell applied to a sequence, like `nn.RNN`.

A cell's new state is the unit applied to the input and the old state side by side (Trask et al. 2018, section
4.1; Madsen & Johansen 2020, section 4.2).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.models.spec import ModelSpec


class Cell(nn.Module):
    """A unit as a recurrent cell: (input, state) -> state.

    Args:
        unit: what computes the state: a name such as "nmu", "nalu(shared=false)" or "nau+nmu", or a module
            from `input_size + state_size` values to `state_size`.
        input_size: number of values at each step.
        state_size: number of values in the state.
        start: value of each element of the state before the first step: 0 for sums, 1 for products.
        device: where the parameters of a unit given by name live.
        dtype: their precision.

    Example:
        >>> cell = nalm.Cell("nau", 1, 1)
        >>> cell.unit.ideal_("add", 0, 1)
        >>> cell(torch.tensor([[5.0]]), torch.tensor([[2.0]]))
        tensor([[7.]], grad_fn=<...>)
    """

    def __init__(
        self,
        unit: str | nn.Module,
        input_size: int,
        state_size: int,
        *,
        start: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = check_positive("input_size", input_size)
        self.state_size = check_positive("state_size", state_size)
        if isinstance(start, bool) or not isinstance(start, (int, float)):
            raise ArgumentError("start", "a number", repr(start))
        self.start = float(start)
        inside = input_size + state_size
        if isinstance(unit, str):
            unit = ModelSpec.parse(unit).build(
                inside, state_size, hidden=state_size, device=device, dtype=dtype
            )
        if not isinstance(unit, nn.Module):
            raise ArgumentError("unit", "the name of a unit, or a module", repr(unit))
        sizes = getattr(unit, "in_features", inside), getattr(unit, "out_features", state_size)
        if sizes != (inside, state_size):
            expected = f"from {inside} inputs to {state_size} outputs"
            raise ArgumentError("unit", expected, f"from {sizes[0]} inputs to {sizes[1]} outputs")
        self.unit = unit

    def forward(self, input: Tensor, state: Tensor | None = None) -> Tensor:
        """The next state: input `... x input_size`, state `... x state_size` (by default the start)."""
        if input.shape[-1:] != (self.input_size,):
            raise ArgumentError(
                "input", f"of last dimension {self.input_size}", f"shape {tuple(input.shape)}"
            )
        if state is None:
            state = self.initial_state(input)
        expected = (*input.shape[:-1], self.state_size)
        if state.shape != expected:
            raise ArgumentError("state", f"of shape {expected}", f"shape {tuple(state.shape)}")
        result: Tensor = self.unit(torch.cat([input, state], -1))
        if result.shape != expected:
            raise ArgumentError("unit", f"one that gives shape {expected}", f"shape {tuple(result.shape)}")
        return result

    def initial_state(self, input: Tensor) -> Tensor:
        """The state before the first step, for input `... x input_size`."""
        return input.new_full((*input.shape[:-1], self.state_size), self.start)

    def extra_repr(self) -> str:
        """The sizes, and the start if it is not 0."""
        start = f", start={self.start}" if self.start else ""
        return f"input_size={self.input_size}, state_size={self.state_size}{start}"


class Recurrent(nn.Module):
    """Apply a cell along a sequence, like `nn.RNN`.

    Args:
        cell: the cell.
        batch_first: whether a batch has the shape `batch x time x input` instead of `time x batch x input`.

    Example:
        >>> cell = nalm.Cell("nmu", 1, 1, start=1.0)
        >>> cell.unit.ideal_("mul", 0, 1)
        >>> outputs, last = nalm.Recurrent(cell)(torch.tensor([[2.0], [3.0], [4.0]]))
        >>> last
        tensor([[24.]], grad_fn=<...>)
    """

    def __init__(self, cell: Cell, *, batch_first: bool = False) -> None:
        super().__init__()
        if not isinstance(cell, Cell):
            raise ArgumentError("cell", "a nalm.Cell", type(cell).__name__)
        self.cell, self.batch_first = cell, batch_first

    def forward(self, input: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """All states and the last one.

        Args:
            input: a sequence `time x input`, or a batch of them, `time x batch x input` (`batch_first`:
                `batch x time x input`).
            state: the initial state, `1 x state`, or `1 x batch x state`; by default the cell's start.

        Returns:
            The states after each step, shaped like the input, and the last state, shaped like `state`.
        """
        for argument, given in (("input", input), ("state", state)):
            if not isinstance(given, Tensor) and not (argument == "state" and given is None):
                raise ArgumentError(argument, "a tensor", type(given).__name__)
        if input.dim() not in (2, 3):
            raise ArgumentError("input", "of two or three dimensions", f"shape {tuple(input.shape)}")
        axis = 1 if self.batch_first and input.dim() == 3 else 0
        steps = input.unbind(axis)
        if not steps:
            raise ArgumentError("input", "a sequence of at least one step", "an empty one")
        if state is None:
            now = self.cell.initial_state(steps[0])
        elif state.dim() == input.dim() and state.shape[0] == 1:
            now = state[0]
        else:
            expected = (1, *steps[0].shape[:-1], self.cell.state_size)
            raise ArgumentError("state", f"of shape {expected}", f"shape {tuple(state.shape)}")
        states = []
        for step in steps:
            now = self.cell(step, now)
            states.append(now)
        return torch.stack(states, axis), now[None]

    def extra_repr(self) -> str:
        """Whether the batch comes first."""
        return "batch_first=True" if self.batch_first else ""
