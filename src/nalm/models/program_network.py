"""A network that reads a program step by step; its output after the last step is the result."""

from __future__ import annotations

from torch import Tensor, nn

from nalm.models.recurrent import Cell, Recurrent
from nalm.models.sequence_baselines import SequenceBaseline


class ProgramNetwork(nn.Module):
    """A recurrent network, or a unit as a recurrent cell, on programs (Trask et al. 2018, section 4.4).

    Args:
        unit: a `SequenceBaseline`; or from a step of the program and one value of state to the next state.
        features: values of a step.
    """

    def __init__(self, unit: nn.Module, features: int) -> None:
        super().__init__()
        self.unit, self.features = unit, features

    def forward(self, programs: Tensor) -> Tensor:
        """The result of each program: `n x length x features` to `n x 1`."""
        if isinstance(self.unit, SequenceBaseline):
            states: Tensor = self.unit(programs)
        else:
            states, _ = Recurrent(Cell(self.unit, self.features, 1), batch_first=True)(programs)
        return states[:, -1]
