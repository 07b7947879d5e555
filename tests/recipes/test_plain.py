"""Recipes as plain data: without defaults for names, with them to be shown and compared."""

import json
from dataclasses import dataclass, replace

import pytest

from nalm.recipes import MSE, Adam, Loss, Ramp, Recipe, UnitPenalty
from nalm.recipes.plain import in_words, leaves, to_plain, with_defaults, without_defaults
from nalm.units import UNITS

RECIPES = {
    f"{name}-{op}-{recipe}": unit.recipe(op, recipe)
    for name, unit in UNITS.items()
    for op in unit.ops
    for recipe in unit.all_recipes()
}


def test_defaults_are_left_out():
    assert to_plain(Recipe()) == {"kind": "Recipe"}
    changed = Recipe(optimiser=Adam(learning_rate=0.01), iterations=7)
    assert to_plain(changed) == {
        "kind": "Recipe",
        "optimiser": {"kind": "Adam", "learning_rate": 0.01},
        "iterations": 7,
    }


def test_a_part_of_the_kind_that_is_the_default_is_left_out_only_if_it_is_equal():
    assert "loss" not in to_plain(Recipe(loss=MSE()))
    assert to_plain(Recipe(clamps=()))["clamps"] == []


def test_a_field_that_is_added_later_renames_nothing():
    @dataclass(frozen=True)
    class Older(Loss):
        power: float = 2.0

    @dataclass(frozen=True)
    class Newer(Loss):
        power: float = 2.0
        margin: float = 0.0

    older, newer = (to_plain(kind(power=3.0)) for kind in (Older, Newer))
    assert {**older, "kind": ""} == {**newer, "kind": ""}


def test_numbers_that_give_the_same_run_are_written_in_the_same_way():
    one, other = (Recipe(optimiser=Adam(learning_rate=rate)) for rate in (1, 1.0))
    assert json.dumps(to_plain(one)) == json.dumps(to_plain(other))


@pytest.mark.parametrize("name", RECIPES)
def test_defaults_come_back(name):
    plain = to_plain(RECIPES[name])
    assert json.loads(json.dumps(plain)) == plain
    whole = with_defaults(plain)
    assert whole["batch_size"] == RECIPES[name].batch_size
    assert without_defaults(whole) == plain


def test_recipes_that_differ_have_different_names():
    distinct = set(RECIPES.values())
    assert len({json.dumps(to_plain(recipe), sort_keys=True) for recipe in distinct}) == len(distinct)


def test_a_recipe_in_words_leaves_out_what_is_not_there():
    recipe = replace(Recipe(), penalties=(UnitPenalty(strength=10.0),), clamps=())
    assert in_words(to_plain(recipe)) == "Recipe(penalties=(UnitPenalty(strength=10),))"


def test_leaves_are_named_by_their_path():
    found = dict(leaves(to_plain(Recipe(penalties=(UnitPenalty(schedule=Ramp(20, 35)),)))))
    assert found["penalties.1.schedule"]["kind"] == "Ramp"
    assert found["penalties.1.schedule.start"] == 20
