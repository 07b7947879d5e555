"""A recipe in one sentence."""

import pytest

from nalm.recipes import L1, Adam, Bound, ClipNorm, Growth, Ramp, Recipe, UnitPenalty
from nalm.recipes.sentence import in_a_sentence
from nalm.units import UNITS


def test_optimiser_loss_steps_penalty_clip_and_bounds_are_told():
    recipe = Recipe(
        penalties=(UnitPenalty(10.0, Ramp(20_000, 35_000)), L1(2.0, Growth(1e-9, 1e-7, 10.0, 10_000))),
        optimiser=Adam(0.01),
        clip_norm=ClipNorm(1.0),
        clamps=(Bound("gate", 0, 1),),
        iterations=40_000,
    )
    assert in_a_sentence(recipe) == (
        "Adam, learning rate 0.01; MSE; 40,000 steps of 128 rows; "
        "the unit's own penalty, strength 10, ramps from step 20,000 to 35,000; "
        "penalty L1, strength 2e-09 to 2e-07, grows every 10,000 steps; "
        "gradient's norm clipped to 1; gate kept in [0, 1]"
    )


@pytest.mark.parametrize("unit", UNITS)
def test_every_recipe_has_a_sentence(unit):
    kind = UNITS[unit]
    for name in kind.all_recipes():
        told = {in_a_sentence(kind.recipe(op, name)) for op in kind.ops}
        assert all("steps" in sentence and "(" not in sentence for sentence in told)
