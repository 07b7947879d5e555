"""CalcNet with trained units instead of ideal weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from nalm.errors import check_choice
from nalm.models import ModelSpec
from nalm.models.calcnet import KINDS, CalcNet
from nalm.tasks import SingleModule
from nalm.training.published import published_recipe
from nalm.training.train import train


def train_calcnet(seed: int = 0, range: str = "1:2", units: Mapping[str, str] | None = None) -> CalcNet:
    """A CalcNet whose four units are trained with their published recipes on a range.

    Args:
        seed: the seed of all four.
        range: the range that they are trained on, see `nalm list ranges`.
        units: by operation ("add", "sub", "mul", "div"), names such as "gnalu" or "nalu@second-order";
            operations left out get NAU, NAU, NMU and NRU.
    """
    named = {op: kind.name for op, kind in KINDS.items()}
    for op, name in (units or {}).items():
        named[check_choice("units", op, KINDS)] = name

    def one(op: str, name: str) -> nn.Module:
        task, spec = SingleModule(op, range), ModelSpec.parse(name)
        module = spec.build(*task.unit_features)
        result = train(module, task, published_recipe(spec, task), seeds=[seed])
        return result.model_of(0).to(torch.float64)

    return CalcNet({op: one(op, name) for op, name in named.items()})
