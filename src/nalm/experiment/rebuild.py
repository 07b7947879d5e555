"""Stored runs, brought back: the task and the model of a record, what its weights say, its formula."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn

from nalm.errors import NalmError
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.symbolic import explain
from nalm.tasks import KINDS, StoredTask, Task
from nalm.units import units_of


def task_of(record: Record) -> Task:
    """The run's task; of one that is not known here, such as that of another package, what is stored."""
    kind, identity = KINDS.get(record.task), record.identity.get("task", {})
    if kind is None:
        return StoredTask(record.task, record.labels, identity)
    return kind.rebuild(record.labels, identity)


@functools.cache
def spec_of(model: str) -> ModelSpec | None:
    """What the words for a model stand for today; None where it cannot be made: its file may be gone."""
    try:
        return ModelSpec.parse(model)
    except NalmError:
        return None


def effective_weights(
    record: Record, parameters: Mapping[str, np.ndarray], lead: Sequence[int] = ()
) -> dict[str, np.ndarray]:
    """Weights and gates of the units, by layer where there are several; else the parameters themselves.

    Args:
        record: the run.
        parameters: the run's parameters by name, each of shape `*lead, ...`.
        lead: axes in front, such as steps.
    """
    try:
        model = _model(record, parameters, lead)
        units = units_of(model) if model is not None else []
        found = [{**unit.weights(), **unit.gates()} for unit in units]
    except Exception:  # a user's own unit may do anything; then it does not tell
        found = []
    if not found:
        return dict(parameters)
    several = len(found) > 1
    return {
        (f"{layer}.{name}" if several else name): value.detach().numpy()
        for layer, values in enumerate(found)
        for name, value in values.items()
    }


def formula(record: Record, *, only_readable: bool = False) -> str | None:
    """The run's formula at the chosen step, or why there is none to read; None for a model without units.

    Args:
        record: the run.
        only_readable: of an unreadable model say only why, which is ten times faster.
    """
    try:
        model = _model(record, record.chosen_parameters)
        if model is None or not units_of(model) or record.diverged_at >= 0:
            return None
        names = [f"x{k + 1}" for k in range(task_of(record).in_features)]
        return str(explain(model, names, only_readable=only_readable))
    except Exception:  # as above
        return None


def _model(
    record: Record, parameters: Mapping[str, np.ndarray], lead: Sequence[int] = ()
) -> nn.Module | None:
    """The run's model with these parameters, if its source is still the same."""
    spec = spec_of(record.model)
    if spec is None or [layer.identity() for layer in spec.layers] != record.identity["layers"]:
        return None
    inputs, hidden = task_of(record).in_features, record.identity.get("hidden", 2)
    model = _skeleton(record.model, inputs, hidden, tuple(lead))
    # Buffers of a user's own module are not parameters, and stay as they are made.
    model.load_state_dict({k: torch.from_numpy(v) for k, v in parameters.items()}, strict=False)
    return model


@functools.lru_cache(maxsize=256)
def _skeleton(text: str, inputs: int, hidden: int, lead: tuple[int, ...]) -> nn.Module:
    """A model to be filled: the same object for all runs of an architecture."""
    return ModelSpec.parse(text).build(inputs, 1, hidden=hidden, batch_shape=lead)
