"""How the weights of networks are drawn for several seeds at once, and read from stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models.many import Parameters
from nalm.recipes.initialisers import Constant, Initialiser
from nalm.streams import Purpose, counters, key, uniform


def drawn_by(model: nn.Module, schemes: Mapping[str, Initialiser], seeds: Sequence[int]) -> Parameters:
    """Parameters `seeds x ...` of a module, drawn from each seed's own stream; 0 where there is no scheme."""
    parameters, held = {}, torch.tensor(seeds, dtype=torch.int32)
    for part, (name, p) in enumerate(model.named_parameters()):
        u = uniform(key(held, Purpose.INIT, 0, part), counters(*p.shape))
        parameters[name] = schemes.get(name, Constant(0.0))(u)
    return parameters


def final_model(case: Case, record: Record) -> nn.Module:
    """The model of a stored run with its weights after the last step."""
    return _filled(case, record.final_parameters)


def chosen_model(case: Case, record: Record) -> nn.Module:
    """The model of a stored run with its weights at the lowest validation error."""
    return _filled(case, record.chosen_parameters)


def _filled(case: Case, parameters: Mapping[str, np.ndarray]) -> nn.Module:
    made = case.build()
    made.load_state_dict({k: torch.from_numpy(v) for k, v in parameters.items()}, strict=False)
    return made


def stacked(runs: Iterable[Mapping[str, np.ndarray]]) -> Parameters:
    """The parameters of stored runs, stacked: `runs x ...` by name."""
    held = list(runs)
    return {name: torch.from_numpy(np.stack([each[name] for each in held])) for name in held[0]}
