"""Recipes for another number of steps: with fewer steps, scheduled events happen proportionally earlier.

A recipe cut off before its penalty begins is another recipe, and usually a bad one. Parts of a recipe mark
which of their numbers are steps, and describe when they act and what a cut would leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, runtime_checkable

from nalm.recipes.losses import PCCThenMSE
from nalm.recipes.optimisers import Falling
from nalm.recipes.recipe import Recipe
from nalm.recipes.schedules import Growth, Ramp, WhenLossBelow

SCHEDULES = ("scaled", "published")
"""How a recipe is given fewer steps than its own: its schedules are shortened too, or cut off."""
STEP_NAMES = frozenset(
    field.name
    for kind in (Ramp, Growth, WhenLossBelow, PCCThenMSE, Falling)
    for field in fields(kind)
    if field.metadata.get("steps")
)
"""The names of the fields that are steps, as written in the text of a recipe."""


@runtime_checkable
class Timed(Protocol):
    """A part of a recipe that acts at certain steps."""

    def timing(self) -> str:
        """When it acts, in words; empty if it never changes."""
        ...

    def missed(self, steps: int) -> str:
        """What of it does not happen within `steps` steps, in words; empty if everything does."""
        ...


@dataclass(frozen=True)
class Timing:
    """How the schedules of a recipe differ from those of the recipe that it was made from.

    Attributes:
        kind: "published" if they do not differ, "scaled" if they are shortened in proportion to the steps,
            "cut" if part of them is left out, "other" if they are changed in another way.
        usual_steps: steps of the recipe that it was made from.
        changes: what happens at other steps, in words.
        missed: what does not happen, in words.
    """

    kind: str
    usual_steps: int
    changes: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def shorter(recipe: Recipe, factor: float) -> Recipe:
    """The recipe with its steps and schedules multiplied by `factor`."""
    made = _changed(recipe, lambda steps: steps * factor)
    return replace(made, iterations=max(1, round(recipe.iterations * factor)))


def with_steps(recipe: Recipe, steps: int, schedule: str = "scaled") -> Recipe:
    """The recipe for `steps` steps: fewer than its own shorten its schedules too, more leave them unchanged.

    Args:
        recipe: the recipe.
        steps: the number of steps.
        schedule: "scaled", or "published" to leave the schedules unchanged and cut off what comes too late.
    """
    if schedule == "scaled" and steps < recipe.iterations:
        recipe = _changed(recipe, lambda step: step * steps / recipe.iterations)
    return replace(recipe, iterations=steps)


def timing_of(recipe: Recipe, usual: Recipe) -> Timing:
    """How the schedules of a recipe differ from the usual one."""
    ours, theirs = dict(_timed(recipe)), dict(_timed(usual))
    changes = [
        f"{name} {part.timing()}, where the recipe {theirs[name].timing()}"
        for name, part in ours.items()
        if name in theirs and part.timing() != theirs[name].timing()
    ]
    missed = [
        f"{name} {lost}"
        for name, part in ours.items()
        if (lost := part.missed(recipe.iterations))
        and not (name in theirs and theirs[name].missed(usual.iterations))
    ]
    if changes:
        scaled = with_steps(usual, recipe.iterations)
        kind = "scaled" if _same(ours, dict(_timed(scaled))) else "other"
    else:
        kind = "cut" if missed else "published"
    return Timing(kind, usual.iterations, tuple(changes), tuple(missed))


def _timed(part: Any, name: str = "") -> Iterator[tuple[str, Timed]]:
    """All parts that act at certain steps, each with a distinct name."""
    if isinstance(part, tuple):
        kinds = [type(each) for each in part]
        for k, each in enumerate(part):
            number = f" {k + 1}" if kinds.count(type(each)) > 1 else ""
            yield from _timed(each, f"{type(each).__name__}{number}")
    elif is_dataclass(part) and not isinstance(part, type):
        if isinstance(part, Timed):
            yield name, part
        for field in fields(part):
            below = getattr(part, field.name)
            yield from _timed(below, name if field.name == "schedule" else type(below).__name__)


def _same(ours: dict[str, Timed], theirs: dict[str, Timed]) -> bool:
    return {name: part.timing() for name, part in ours.items()} == {
        name: part.timing() for name, part in theirs.items()
    }


def _changed(part: Any, change: Callable[[float], float]) -> Any:
    """The same part with all its steps changed."""
    if isinstance(part, tuple):
        return tuple(_changed(each, change) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    made = {}
    for field in fields(part):
        value = getattr(part, field.name)
        made[field.name] = change(value) if field.metadata.get("steps") else _changed(value, change)
    return replace(part, **made)
