"""Stores of earlier versions: numbers stay as they are, names become those of today."""

import pytest

from nalm.experiment.run import Cell
from nalm.experiment.upgrade import modern_identity, recipe_of_text
from nalm.models import ModelSpec
from nalm.tasks import ArithmeticDataset, SingleModule, TenParameters
from nalm.units import UNITS


def written_in_08(cell):
    """What determined a run up to version 0.8: the recipe as Python prints it, the task not by itself."""
    today = dict(cell.identity)
    task = dict(today.pop("task"))
    del today["format"]
    if cell.task.name == "arithmetic-dataset":
        task = {"subset_ratio": cell.task.subset_ratio, "overlap_ratio": cell.task.overlap_ratio, **task}
    return {**today, "task": task.pop("name"), **task, "recipe": repr(cell.recipe)}


def cells():
    for name, unit in UNITS.items():
        for op in unit.ops:
            if op in SingleModule.ops:
                for recipe in unit.all_recipes():
                    yield Cell(ModelSpec.parse(f"{name}@{recipe}"), SingleModule(op, "mixed-1", 10))
    yield Cell(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"), hidden=3)
    yield Cell(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul", subset_ratio=0.1))
    yield Cell(ModelSpec.parse("nmu"), TenParameters(), iterations=100)


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: f"{cell.model}-{cell.task.op}")
def test_an_older_identity_becomes_that_of_today(cell):
    assert modern_identity(written_in_08(cell)) == cell.identity


def test_a_run_judged_by_the_first_rule_for_exact_keeps_it():
    first = "Recipe(optimiser=LevenbergMarquardt(starts=4, grow=True), clamps=(), iterations=100)"
    assert recipe_of_text(first)["optimiser"] == {"kind": "LevenbergMarquardt", "rule": 1}
    second = first.replace("grow=True", "grow=True, rule=2")
    assert recipe_of_text(second)["optimiser"] == {"kind": "LevenbergMarquardt"}


def test_what_was_never_a_run_of_ours_is_left_alone():
    assert modern_identity({"seed": 3}) == {"seed": 3}
