"""Stored runs rebuilt: the task and the model of a record, its effective weights and its formula."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn

from nalm.errors import ArgumentError, NalmError
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.models.many import MOST_FOLLOWED, UNIT_NAME
from nalm.models.path import PathStep, steps_of
from nalm.models.patience import ESCAPES
from nalm.models.user_units import failure
from nalm.symbolic import Explanation, explain
from nalm.tasks import StoredTask, Task
from nalm.tasks.registry import task_kind
from nalm.units import outer_units, units_of


def task_of(record: Record) -> Task:
    """The run's task; if its package is not installed, a `StoredTask` with what the store has."""
    kind, identity = _kind_of(record.task, is_given(record)), record.identity.get("task", {})
    made = (
        StoredTask(record.task, record.labels, identity)
        if kind is None
        else kind.rebuild(record.labels, identity)
    )
    if isinstance(made, StoredTask):
        made.dtype = getattr(torch, record.identity["precision"])
        made.log_interval = record.identity["log_interval"]
    return made


def is_given(record: Record) -> bool:
    """Whether the run's model is a network given by a function, see `nalm.models.GivenModel`."""
    return any("given" in layer for layer in record.identity["layers"])


@functools.cache
def _kind_of(task: str, given: bool) -> type[Task] | None:
    """The class of a task; None if it is not installed, with one warning unless the model is given."""
    try:
        return task_kind(task)
    except NalmError as error:
        if not given:
            warnings.warn(f"Runs of the task {task!r} are not judged. {error}", stacklevel=3)
        return None


@functools.cache
def spec_of(model: str) -> ModelSpec | None:
    """What a model's text means today; None if it cannot be parsed, for example because its file is gone."""
    try:
        return ModelSpec.parse(model)
    except NalmError:
        return None


def effective_weights(
    record: Record, parameters: Mapping[str, np.ndarray], lead: Sequence[int] = ()
) -> dict[str, np.ndarray]:
    """Weights and gates of the units, by layer if there are several; without units, the parameters.

    Args:
        record: the run.
        parameters: the run's parameters by name, each of shape `*lead, ...`.
        lead: the sizes of leading axes, such as steps.
    """
    try:
        found = weights_of(_model(record, parameters, lead))
    except ESCAPES as error:
        _unreadable(record, error)
        found = {}  # the formula says why
    return found or small(parameters) or small(unit_part(parameters))


def unit_part(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parameters of the unit under test, by their names in it; all, if no network is around it."""
    own = {}
    for name, value in parameters.items():
        path = name.split(".")
        if UNIT_NAME in path[:-1]:
            own[".".join(path[path.index(UNIT_NAME) + 1 :])] = value
    return own or dict(parameters)


def small(parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parameters, unless there are too many to be shown."""
    return dict(parameters) if sum(p.size for p in parameters.values()) <= MOST_FOLLOWED else {}


def weights_of(model: nn.Module | None) -> dict[str, np.ndarray]:
    """Weights and gates of the units of a model, by layer if there are several."""
    held = [unit.discrete() for unit in (outer_units(model) if model is not None else ())]
    several = len(held) > 1
    return {
        (f"{layer}.{name}" if several else name): value.detach().numpy()
        for layer, values in enumerate(held)
        for name, value in values.items()
    }


def formula(record: Record, *, only_readable: bool = False) -> str | None:
    """The run's formula at the chosen step, or why it has none; None if it diverged or has no units.

    Args:
        record: the run.
        only_readable: for an unreadable model, give only the reason, which is ten times faster.
    """
    return read(record, only_readable=only_readable)[0]


def read(record: Record, *, only_readable: bool = True) -> tuple[str | None, Explanation | None]:
    """The text of `formula`, and what it was made from; that is None if there is only a text, or nothing."""
    try:
        found = explanation(record, only_readable=only_readable)
    except ESCAPES as error:
        return _unreadable(record, error), None
    return None if found is None else str(found), found


def explanation(record: Record, *, only_readable: bool = True) -> Explanation | None:
    """What the run's model computes at the chosen step; None if it diverged or has no units."""
    if record.diverged_at >= 0:
        return None
    model = model_of(record)
    if model is None or not units_of(model):
        return None
    found = explain(model, task_of(record).input_names, only_readable=only_readable)
    assert isinstance(found, Explanation)
    return found


def path(record: Record, most: int) -> list[PathStep] | None:
    """What the run's model does step by step; None if it diverged, or has no steps or more than `most`."""
    model = model_of(record) if record.diverged_at < 0 else None
    if model is None or sum(unit.out_features for unit in outer_units(model)) > most:
        return None
    try:
        steps = steps_of(model, task_of(record).input_names)
    except ArgumentError:
        return None  # it is not made of units one after the other
    except ESCAPES as error:
        _unreadable(record, error)
        return None  # the formula says why
    return steps if len(steps) <= most else None


def model_of(record: Record, *, final: bool = False) -> nn.Module | None:
    """The run's model at the chosen step, or after the last; None if its source has changed.

    Another call may change the model that is returned.
    """
    return _model(record, record.final_parameters if final else record.chosen_parameters)


def _unreadable(record: Record, error: BaseException) -> str:
    """Why a run with a user's own unit cannot be read; an error from a unit of nalm is a bug and raised."""
    spec = spec_of(record.model)
    origin = next((layer.origin for layer in spec.layers if layer.origin), None) if spec else None
    if origin is None:
        raise error
    return f"cannot be read: {failure(error, origin)}"


def _model(
    record: Record, parameters: Mapping[str, np.ndarray], lead: Sequence[int] = ()
) -> nn.Module | None:
    """The run's model with these parameters, without a network around it; None if its source has changed."""
    parameters = unit_part(parameters)
    spec, task = spec_of(record.model), task_of(record)
    if spec is None or spec.identity() != record.identity["layers"]:
        return None
    model = _skeleton(record.model, task.unit_features, record.identity.get("hidden", 2), tuple(lead))
    held = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    if held != {name: value.shape for name, value in parameters.items()}:
        return None  # sizes of a task that are not known here
    # Not strict, because buffers of a user's own module are not stored and keep their first values.
    model.load_state_dict({k: torch.from_numpy(v) for k, v in parameters.items()}, strict=False)
    return model


@functools.lru_cache(maxsize=256)
def _skeleton(text: str, sizes: tuple[int, int], hidden: int, lead: tuple[int, ...]) -> nn.Module:
    """A model to load parameters into: the same object for all runs of an architecture."""
    return ModelSpec.parse(text).build(*sizes, hidden=hidden, batch_shape=lead)
