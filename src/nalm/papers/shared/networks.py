"""Networks of programs that train several at once: how their weights are drawn and read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import torch
from torch import nn

from nalm.models.many import Parameters
from nalm.recipes.initialisers import Constant, Initialiser
from nalm.streams import Purpose, counters, key, uniform
from nalm.training.result import TrainResult


def drawn_by(model: nn.Module, schemes: Mapping[str, Initialiser], seeds: Sequence[int]) -> Parameters:
    """Parameters `seeds x ...` of any module, each seed's from its own stream; 0 where there is no scheme."""
    parameters, held = {}, torch.tensor(seeds, dtype=torch.int32)
    for part, (name, p) in enumerate(model.named_parameters()):
        u = uniform(key(held, Purpose.INIT, 0, part), counters(*p.shape))
        parameters[name] = schemes.get(name, Constant(0.0))(u)
    return parameters


def final_model(result: TrainResult, run: int) -> nn.Module:
    """A copy of the model with the weights of a run after the last step."""
    made = copy.deepcopy(result.model)
    made.load_state_dict({name: p[run] for name, p in result.final_parameters.items()}, strict=False)
    return made
