"""A recipe in one sentence: how a unit is trained, without the names of classes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nalm.recipes.clamps import Bound
from nalm.recipes.optimisers import LevenbergMarquardt
from nalm.recipes.penalties import Penalty
from nalm.recipes.recipe import Recipe

_NAMES = {
    "UnitPenalty": "the unit's own penalty",
    "LevenbergMarquardt": "Levenberg and Marquardt's method",
    "Centred": "Adam in centred coordinates",
    **{name: name for name in ("L0", "L1", "L2", "Adam", "SGD", "RMSProp")},
}


def in_a_sentence(recipe: Recipe) -> str:
    """The recipe in words: optimiser, loss, steps, penalties, clips, and bounds that are not the unit's own.

    Example:
        >>> from nalm.recipes import Recipe
        >>> in_a_sentence(Recipe())
        'Adam, learning rate 0.001; MSE; 50,000 steps of 128 rows'
    """
    return "; ".join(_parts(recipe))


def _parts(recipe: Recipe) -> Iterator[str]:
    optimiser = recipe.optimiser
    kind = _words(optimiser)
    if isinstance(optimiser, LevenbergMarquardt):
        yield f"{kind}, up to {recipe.iterations:,} steps"
        return
    timing = getattr(optimiser, "timing", str)()
    yield f"{kind}, learning rate {optimiser.learning_rate:g}{f' ({timing})' if timing else ''}"
    yield type(recipe.loss).__name__
    yield f"{recipe.iterations:,} steps of {recipe.batch_size:,} rows"
    yield from map(_penalty, recipe.penalties)
    if recipe.clip_norm is not None:
        yield f"gradient's norm clipped to {recipe.clip_norm.norm:g}"
    if recipe.clip_value is not None:
        yield f"gradients clipped to ±{recipe.clip_value.bound:g}"
    if recipe.gradient_noise is not None:
        yield "noise on gradients"
    for clamp in recipe.clamps:
        if isinstance(clamp, Bound):
            yield f"{clamp.parameter} kept in [{clamp.low:g}, {clamp.high:g}]"
    if recipe.reinitialise is not None:
        yield "new initial weights if training is stuck"


def _penalty(penalty: Penalty) -> str:
    """A penalty with its strength and when it acts; what it acts on if it says so."""
    told = _words(penalty)
    named = told if told.endswith("penalty") else f"penalty {told}"
    values = getattr(penalty, "values", None)
    aim = "" if values is None else f" {penalty.of} to {values}"  # type: ignore[attr-defined]
    first, last = (getattr(penalty.schedule, name, 1.0) for name in ("first", "last"))
    ends = dict.fromkeys(f"{penalty.strength * end:g}" for end in (first, last))
    timing = penalty.schedule.timing()
    return f"{named}{aim}, strength {' to '.join(ends)}{f', {timing}' if timing else ''}"


def _words(part: object) -> str:
    """The name of a class as words: `InputIdentity` is `input identity`, `L1` stays."""
    name = type(part).__name__
    return _NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
