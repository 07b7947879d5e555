"""Models made of units."""

from nalm.models.calcnet import CalcNet, ExpressionError
from nalm.models.composer import Composer
from nalm.models.configured import ConfiguredByLSTM
from nalm.models.frozen_selector import FrozenSelector
from nalm.models.gated import GatedPair
from nalm.models.hybrid import Hybrid
from nalm.models.model import GivenModel, Model
from nalm.models.recurrent import Cell, Recurrent
from nalm.models.scaling import Scaled
from nalm.models.selector import RecurrentSelector
from nalm.models.spec import ModelSpec
from nalm.models.unit_graph import UnitGraph

__all__ = [
    "CalcNet",
    "Cell",
    "Composer",
    "ConfiguredByLSTM",
    "ExpressionError",
    "FrozenSelector",
    "GatedPair",
    "GivenModel",
    "Hybrid",
    "Model",
    "ModelSpec",
    "Recurrent",
    "RecurrentSelector",
    "Scaled",
    "UnitGraph",
]
