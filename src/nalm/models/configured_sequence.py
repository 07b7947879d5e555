"""Units configured by an LSTM along a sequence of symbols and numbers: the recurrent NALU of programs.

Trask et al. 2018, section 4.4 and appendix E. At each step the last input is a number and the others tell
the symbol. The unit sees the number and its own state, which it replaces; the LSTM sees the symbol and
chooses the unit's parameters.

Ours, where the paper is silent: the unit has `slots` values of state, of which the first are the outputs. The
LSTM also sees the state squashed by tanh, so that it can act on the sign of a difference, and sees nothing
that grows with the numbers. Integers saturate tanh, and its gradient with them: a unit with a `reach` has the
tanh of its state, with the slope of the tanh of its state divided by the reach. Zero stands
where a symbol is no number and where nothing is stored yet; a product of powers of 1e-7 overflows there, so
the configured NALU adds 1 to magnitudes instead (`epsilon`).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_positive
from nalm.models.sequence_baselines import SequenceBaseline


class ConfiguredSequence(SequenceBaseline):
    """Base of units that are configured by an LSTM along a sequence.

    Args:
        in_features: number of values at each step, plus `out_features`.
        out_features: number of outputs.
        hidden_size: size of the LSTM's state.
        slots: values of the unit's own state.

    Attributes:
        reach: up to which size numbers of the state have a slope in what the LSTM sees of them.
    """

    reach: ClassVar[float] = 1.0

    def __init__(self, in_features: int, out_features: int, *, hidden_size: int = 32, slots: int = 4) -> None:
        if check_positive("slots", slots) < out_features:
            raise ArgumentError("slots", f"at least {out_features}, one per output", repr(slots))
        self.slots = slots
        super().__init__(in_features, out_features, hidden_size=hidden_size)

    def configured(self, control: int, hidden_size: int) -> nn.Module:
        """The step: a `ConfiguredByLSTM` that sees a number and the state, and gives the next state."""
        raise NotImplementedError

    def make(self, inputs: int, hidden_size: int) -> nn.Module:
        """The configured unit, controlled by the symbol and the squashed state."""
        step = self.configured(inputs - 1 + self.slots, hidden_size)
        return _Steps(step, self.slots, self.out_features, self.reach)

    def make_output(self, hidden_size: int) -> nn.Module:
        """None: the first slots are the outputs, nothing lies between the unit and the result."""
        return nn.Identity()


class _Steps(nn.Module):
    """The configured unit applied along a sequence."""

    def __init__(self, step: nn.Module, slots: int, outputs: int, reach: float) -> None:
        super().__init__()
        self.step, self.slots, self.outputs, self.reach = step, slots, outputs, reach

    def forward(self, input: Tensor) -> tuple[Tensor, Tensor]:
        """The first slots after each step `batch x time x outputs`, and the last state."""
        state, memory, found = input.new_zeros(input.shape[0], self.slots), None, []
        for now in input.unbind(1):
            symbol, number = now[:, :-1], now[:, -1:]
            control, seen = torch.cat([symbol, self._squashed(state)], -1), torch.cat([number, state], -1)
            state, memory = self.step(control, seen, memory)
            found.append(state[:, : self.outputs])
        return torch.stack(found, 1), state

    def _squashed(self, state: Tensor) -> Tensor:
        """The tanh of the state, with the slope of a wider tanh where there is a reach."""
        if self.reach == 1:
            return state.tanh()
        wide = (state / self.reach).tanh()
        return wide + (state.tanh() - wide).detach()


class ConfiguredNALU(ConfiguredSequence):
    """A NALU whose matrices are functions of an LSTM's state at each step.

    Args:
        in_features: see `ConfiguredSequence`.
        out_features: see `ConfiguredSequence`.
        hidden_size: see `ConfiguredSequence`.
        slots: see `ConfiguredSequence`.
        epsilon: what the NALU adds to magnitudes before it takes logarithms.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden_size: int = 32,
        slots: int = 4,
        epsilon: float = 1.0,
    ) -> None:
        self.epsilon = epsilon
        super().__init__(in_features, out_features, hidden_size=hidden_size, slots=slots)

    def configured(self, control: int, hidden_size: int) -> nn.Module:
        """The step."""
        from nalm.models.configured import ConfiguredByLSTM  # only here: it reads names, of which this is one

        unit = f"nalu(epsilon={self.epsilon})"
        return ConfiguredByLSTM(unit, control, 1 + self.slots, self.slots, hidden_size=hidden_size)


class ConfiguredNAU(ConfiguredSequence):
    """A NAU whose weights are functions of an LSTM's state at each step, clamped to [-1, 1].

    Ours, to make the recurrent NALU robust: a clamped weight is exactly 1 where tanh and the logistic
    function only come near, so that errors do not grow with the numbers; and no product can overflow. The
    reach is the middle of the numbers in training: without it, no condition on numbers was learnt.
    """

    reach = 50.0

    def configured(self, control: int, hidden_size: int) -> nn.Module:
        """The step."""
        from nalm.models.configured import ConfiguredByLSTM

        sizes = 1 + self.slots, self.slots
        return ConfiguredByLSTM("nau", control, *sizes, hidden_size=hidden_size, projected=True)
