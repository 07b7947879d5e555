"""Models made of units."""

from nalm.compose.calcnet import CalcNet, ExpressionError
from nalm.compose.configured import ConfiguredByLSTM
from nalm.compose.recurrent import Cell, Recurrent
from nalm.compose.scaling import Scaled
from nalm.compose.spec import ModelSpec

__all__ = ["CalcNet", "Cell", "ConfiguredByLSTM", "ExpressionError", "ModelSpec", "Recurrent", "Scaled"]
