"""CalcNet with trained units instead of ideal weights."""

from __future__ import annotations

from torch import nn

from nalm.models.calcnet import KINDS, CalcNet
from nalm.tasks import SingleModule
from nalm.training.train import train
from nalm.units import Unit


def train_calcnet(seed: int = 0, range: str = "1:2") -> CalcNet:
    """A CalcNet whose four units are trained with their published recipes on a range."""

    def one(op: str, kind: type[Unit]) -> nn.Module:
        result = train(kind(2, 1), SingleModule(op, range), kind.recipe(op), seeds=[seed])
        return result.model_of(0).double()

    return CalcNet({op: one(op, kind) for op, kind in KINDS.items()})
