"""How much a program of its own does at a scale, and in which words it says that it did less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nalm.errors import unknown
from nalm.papers.scale import Scale


@dataclass(frozen=True)
class Amount:
    """How many models are trained for how many steps.

    Attributes:
        models: how many of each kind.
        steps: how many each.
        reduced: in which way that is less than the protocol, in words.
    """

    models: int
    steps: int
    reduced: tuple[str, ...] = ()


def amount(scale: Scale, models: int, steps: int, *, quick_models: int, quick_steps: float) -> Amount:
    """What a scale makes of a protocol of so many models and steps.

    Args:
        scale: how much to do.
        models: models of the full protocol.
        steps: steps of the full protocol.
        quick_models: models of the quick one.
        quick_steps: part of the steps that the quick one takes.
    """
    count = scale.seeds or (min(models, quick_models) if scale.quick else models)
    taken = max(1, round(steps * (scale.steps or (quick_steps if scale.quick else 1.0))))
    said = []
    if count < models:
        said.append(f"models: {count} instead of {models}")
    if taken < steps:
        said.append(f"steps: {taken} instead of {steps}")
    return Amount(count, taken, tuple(said))


def chosen_rows(scale: Scale, known: Sequence[str]) -> list[str]:
    """The rows asked for, by default all."""
    for row in scale.rows or ():
        if row not in known:
            raise unknown("rows", row, known)
    return [row for row in known if scale.rows is None or row in scale.rows]
