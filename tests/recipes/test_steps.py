"""Recipes for other numbers of steps: schedules in proportion, words for what changes or never happens."""

from dataclasses import replace

import pytest

import nalm
from nalm.recipes import (
    L1,
    Adam,
    Discretise,
    Growth,
    PCCThenMSE,
    Ramp,
    Recipe,
    Reinitialise,
    UnitPenalty,
    WhenLossBelow,
)
from nalm.recipes.steps import STEP_NAMES, shorter, timing_of, with_steps
from nalm.tasks import SingleModule

RAMP = Recipe(penalties=(UnitPenalty(10.0, Ramp(20e3, 35e3)),), iterations=50_000)


def test_a_shorter_recipe_keeps_its_schedules_in_proportion():
    recipe = Recipe(
        loss=PCCThenMSE(750_000.0),
        penalties=(UnitPenalty(10.0, Ramp(1e6, 2e6)), L1(1.0, Growth(1e-9, 1e-7))),
        iterations=5_000_000,
    )
    short = shorter(recipe, 0.1)
    assert short.iterations == 500_000
    assert short.loss.switch == 75_000
    assert (short.penalties[0].schedule.start, short.penalties[0].schedule.end) == (1e5, 2e5)
    assert short.penalties[0].strength == 10
    assert (short.penalties[1].schedule.every, short.penalties[1].schedule.first) == (1000, 1e-9)


def test_fewer_steps_shorten_the_schedules_and_more_leave_them():
    assert with_steps(RAMP, 10_000) == replace(
        RAMP, iterations=10_000, penalties=(UnitPenalty(10.0, Ramp(4e3, 7e3)),)
    )
    assert with_steps(RAMP, 50_000) == RAMP
    assert with_steps(RAMP, 200_000) == replace(RAMP, iterations=200_000)


def test_published_schedules_stay_where_they_are():
    assert with_steps(RAMP, 10_000, "published") == replace(RAMP, iterations=10_000)


def test_a_recipe_without_schedules_only_gets_another_number():
    plain = Recipe(penalties=(L1(0.1),), optimiser=Adam(1e-2))
    assert with_steps(plain, 7) == replace(plain, iterations=7)


def test_the_same_part_of_the_steps_is_the_same_recipe_for_papers_and_for_benchmarks():
    for unit in nalm.units.UNITS.values():
        for op in unit.ops:
            recipe = unit.recipe(op)
            assert with_steps(recipe, recipe.iterations // 5) == shorter(recipe, 0.2)


PARTS = [
    (
        RAMP,
        10_000,
        "UnitPenalty ramps from step 4,000 to 7,000, where the recipe ramps from step 20,000 to 35,000",
        "UnitPenalty never begins: it ramps from step 20,000 to 35,000",
    ),
    (
        RAMP,
        30_000,
        "UnitPenalty ramps from step 12,000 to 21,000, where the recipe ramps from step 20,000 to 35,000",
        "UnitPenalty is not fully on: it ramps from step 20,000 to 35,000",
    ),
    (
        Recipe(penalties=(L1(1.0, Growth(1e-9, 1e-7)),)),
        10_000,
        "L1 grows every 2,000 steps, where the recipe grows every 10,000 steps",
        "L1 grows to 1e-09 instead of 1e-07: it grows every 10,000 steps",
    ),
    (
        Recipe(penalties=(UnitPenalty(), UnitPenalty(1.0, WhenLossBelow()))),
        5_000,
        "UnitPenalty 2 may begin after step 1,000, where the recipe may begin after step 10,000",
        "UnitPenalty 2 never begins: it may begin after step 10,000",
    ),
    (
        Recipe(loss=PCCThenMSE(), iterations=1_500_000),
        30_000,
        "PCCThenMSE switches to MSE at step 15,000, where the recipe switches to MSE at step 750,000",
        "PCCThenMSE never switches to MSE: it switches to MSE at step 750,000",
    ),
]


@pytest.mark.parametrize(("recipe", "steps", "change", "missed"), PARTS)
def test_words_say_what_is_scaled_or_never_happens(recipe, steps, change, missed):
    scaled = timing_of(with_steps(recipe, steps), recipe)
    assert (scaled.kind, scaled.usual_steps) == ("scaled", recipe.iterations)
    assert (scaled.changes, scaled.missed) == ((change,), ())
    cut = timing_of(with_steps(recipe, steps, "published"), recipe)
    assert (cut.kind, cut.changes, cut.missed) == ("cut", (), (missed,))


def test_nothing_is_said_where_nothing_is_lost():
    for steps in (35_000, 50_000, 1_000_000):
        assert timing_of(with_steps(RAMP, steps, "published"), RAMP).kind == "published"
    late = replace(RAMP, iterations=10_000)  # a recipe that never got so far is not cut by fewer steps
    assert timing_of(with_steps(late, 5_000, "published"), late).missed == ()


def test_restarts_are_not_scaled_and_are_missed_in_words():
    recipe = Recipe(reinitialise=Reinitialise(), penalties=(Discretise(0.1, Ramp(1e3, 2e3)),))
    timing = timing_of(with_steps(recipe, 5_000), recipe)
    assert timing.kind == "scaled"
    assert timing.missed == ("Reinitialise never happens: it may begin after step 10,000",)


def test_schedules_changed_in_another_way_are_called_other():
    other = replace(RAMP, penalties=(UnitPenalty(10.0, Ramp(1e3, 2e3)),))
    assert timing_of(other, RAMP).kind == "other"


def test_the_names_of_steps_are_those_of_the_parts():
    assert {"start", "end", "every", "after", "switch", "start_at", "end_at"} == STEP_NAMES


def test_train_shortens_the_published_recipe(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "nalm.training.train.train_runs", lambda m, t, recipes, *a, **k: seen.append(recipes[0])
    )
    task = SingleModule("mul", "1:2")
    for recipe in (None, RAMP):
        with pytest.raises(AttributeError):  # there is no result
            nalm.train("nmu", task, recipe, iterations=40_000)
    assert seen[0].penalties[0].schedule == Ramp(16e3, 28e3)
    assert seen[1] == replace(RAMP, iterations=40_000)


def test_train_warns_of_what_a_given_recipe_has_no_steps_for():
    task = SingleModule("mul", "1:2")
    with pytest.warns(UserWarning, match="With 3 instead of 50,000 steps, UnitPenalty never begins"):
        nalm.train("nmu", task, RAMP, iterations=3, compiled=False)
