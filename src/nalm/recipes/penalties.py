"""Penalties: one value per model, times a strength, times the factor of a schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from nalm.errors import check_choice, unknown
from nalm.recipes.distances import distance_to_bit, distance_to_integer_sign, distance_to_sign
from nalm.recipes.model_axis import model_means, model_sums, per_model
from nalm.recipes.schedules import Always, Schedule, StepState
from nalm.recipes.subject import Subject, subjects_of


class Penalty:
    """Base of all penalties."""

    strength: float
    schedule: Schedule

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        raise NotImplementedError

    def __call__(self, model: nn.Module, now: StepState) -> Tensor | None:
        """The penalty as it is added to the loss, shape `models`."""
        value = self.value(model)
        if value is None:
            return None
        return (self.strength * self.schedule.scale(now)).to(value.dtype) * value


@dataclass(frozen=True)
class UnitPenalty(Penalty):
    """Each unit's own published penalty, summed over all units or only over units named `unit`."""

    strength: float = 1.0
    schedule: Schedule = Always()
    unit: str | None = None

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        return _total(unit.penalty() for unit in subjects_of(model, self.unit))


@dataclass(frozen=True)
class L0(Penalty):
    """Expected number of open gates of units with stochastic gates (thesis, section 4.3.1)."""

    strength: float = 1.0
    schedule: Schedule = Always()

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        counts = (getattr(unit, "open_gates", None) for unit in subjects_of(model))
        return _total(count() for count in counts if count is not None)


@dataclass(frozen=True)
class L1(Penalty):
    """Sum of the absolute values of all parameters (Heim et al. 2020), or of those of one name.

    `of` is "model" for the parameters of the whole model, or "units" for those of its units alone.
    """

    strength: float = 1.0
    schedule: Schedule = Always()
    parameter: str | None = None
    of: str = field(default="model")

    def __post_init__(self) -> None:
        check_choice("of", self.of, ("model", "units"))

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        parts: list[nn.Module] = [model] if self.of == "model" else [*subjects_of(model)]
        # By identity: the units of a unit made of units are found with it and once more.
        chosen = {id(p): p for part in parts for p in _parameters(part, self.parameter)}
        return _total(model_sums(parameter.abs()) for parameter in chosen.values())


@dataclass(frozen=True)
class L2(Penalty):
    """Sum of the squares of all parameters (thesis, appendix G.3)."""

    strength: float = 1.0
    schedule: Schedule = Always()

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        return _total(model_sums(parameter.square()) for parameter in _parameters(model))


@dataclass(frozen=True)
class InputIdentity(Penalty):
    """R_z: mean of (1 - |W_i|) (identity - z_i)^2, with z_i the mean of a unit's input i over batch and time.

    It keeps a network in front of a unit from making up for a weight that should be 1: an input that is not
    selected may only be the identity of the operation, 1 for products and 0 for sums (Madsen & Johansen 2020,
    section 4.2 and equation 75; thesis, section 4.6.2). The network must tell what its `unit` has `seen`.
    """

    strength: float = 1.0
    schedule: Schedule = Always()
    identity: float = 1.0

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        return _total(
            model_means((1 - weight.abs()) * (per_model(self.identity, weight) - means).square())
            for unit, means in _seen(model)
            for weight in unit.weights().values()
            if weight.shape[-1] == len(means)  # not where weights are no weights of inputs
        )


_DISTANCES = {"0,1": distance_to_bit, "-1,0,1": distance_to_integer_sign, "-1,1": distance_to_sign}


@dataclass(frozen=True)
class Discretise(Penalty):
    """Mean distance of the weights, or of the gates, from a set of values (thesis, section 5.4).

    `values` is one of "0,1", "-1,0,1", "-1,1"; `of` is "weights", "gates" or the name of a single weight or
    gate, such as "W"; `unit` restricts the penalty to units of that name.
    """

    strength: float = 1.0
    schedule: Schedule = Always()
    values: str = field(default="-1,0,1")
    of: str = field(default="weights")
    unit: str | None = None

    def __post_init__(self) -> None:
        check_choice("values", self.values, _DISTANCES)

    def value(self, model: nn.Module) -> Tensor | None:
        """The penalty of each model without strength, shape `models`; None where nothing is penalised."""
        distance = _DISTANCES[self.values]
        units = subjects_of(model, self.unit)
        tensors = [t for unit in units for t in self._chosen(unit)]
        if units and not tensors and self.of not in ("weights", "gates"):
            names = [name for unit in units for name in (*unit.weights(), *unit.gates())]
            raise unknown("of", self.of, ["weights", "gates", *names])
        return _total(model_means(distance(tensor)) for tensor in tensors)

    def _chosen(self, unit: Subject) -> list[Tensor]:
        if self.of in ("weights", "gates"):
            return list(getattr(unit, self.of)().values())
        named = {**unit.weights(), **unit.gates()}
        return [named[self.of]] if self.of in named else []


def _parameters(model: nn.Module, wanted: str | None = None) -> list[Tensor]:
    """The parameters, read as attributes of their modules, so that tensors put in their place are found."""
    return [
        getattr(module, name)
        for module in model.modules()
        for name, held in module._parameters.items()
        if held is not None and wanted in (None, name)
    ]


def _seen(model: nn.Module) -> list[tuple[Subject, Tensor]]:
    """Units with the means of what they have seen, in networks that tell it."""
    told = ((getattr(m, "unit", None), getattr(m, "seen", None)) for m in model.modules())
    return [(u, means) for u, means in told if isinstance(u, Subject) and isinstance(means, Tensor)]


def _total(values: Iterable[Tensor]) -> Tensor | None:
    listed = list(values)
    return torch.stack(listed).sum(0) if listed else None
