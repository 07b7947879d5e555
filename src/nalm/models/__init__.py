"""Models made of units."""

from nalm.models.calcnet import CalcNet, ExpressionError
from nalm.models.configured import ConfiguredByLSTM
from nalm.models.model import GivenModel, Model
from nalm.models.recurrent import Cell, Recurrent
from nalm.models.scaling import Scaled
from nalm.models.spec import ModelSpec

__all__ = [
    "CalcNet",
    "Cell",
    "ConfiguredByLSTM",
    "ExpressionError",
    "GivenModel",
    "Model",
    "ModelSpec",
    "Recurrent",
    "Scaled",
]
