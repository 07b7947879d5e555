"""Changes to a recipe that figures sweep."""

from __future__ import annotations

from dataclasses import replace

from nalm.papers.shared.series import Change
from nalm.recipes import (
    L0,
    L1,
    Bound,
    Clamp,
    GradientNoise,
    Growth,
    Initialise,
    Loss,
    Optimiser,
    Penalty,
    Recipe,
)


def learning_rate(rate: float) -> Change:
    """Another learning rate."""

    def change(recipe: Recipe) -> Recipe:
        changed = replace(recipe.optimiser, learning_rate=rate)  # type: ignore[type-var]
        return replace(recipe, optimiser=changed)

    return change


def optimiser(other: Optimiser) -> Change:
    """Another optimiser."""
    return lambda recipe: replace(recipe, optimiser=other)


def loss(other: Loss) -> Change:
    """Another loss."""
    return lambda recipe: replace(recipe, loss=other)


def penalties(*parts: Penalty) -> Change:
    """These penalties instead of the recipe's."""
    return lambda recipe: replace(recipe, penalties=parts)


def more_penalties(*parts: Penalty) -> Change:
    """These penalties in addition to the recipe's."""
    return lambda recipe: replace(recipe, penalties=(*recipe.penalties, *parts))


def bounds(*parts: Clamp) -> Change:
    """These clamps in addition to the recipe's."""
    return lambda recipe: replace(recipe, clamps=(*recipe.clamps, *parts))


def initialise(*parts: Initialise) -> Change:
    """These initialisations."""
    return lambda recipe: replace(recipe, initialise=parts)


def l1_growth(first: float, last: float) -> Change:
    """An L1 penalty that grows from one strength to another."""
    return penalties(L1(1.0, Growth(first, last)))


def l0(value: float) -> Change:
    """A penalty of this strength on open gates."""

    def change(recipe: Recipe) -> Recipe:
        others = tuple(part for part in recipe.penalties if not isinstance(part, L0))
        return replace(recipe, penalties=(L0(value), *others))

    return change


def gradient_noise(eta: float) -> Change:
    """Noise on the gradients."""
    return lambda recipe: replace(recipe, gradient_noise=GradientNoise(eta))


def several(*changes: Change) -> Change:
    """Several changes, applied in this order."""

    def change(recipe: Recipe) -> Recipe:
        for each in changes:
            recipe = each(recipe)
        return recipe

    return change


CLIP_W = Bound("weight", -1.0, 1.0)
CLIP_GATE = Bound("gate", 0.0, 1.0)
