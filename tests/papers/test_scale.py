import pytest

from nalm.compose import ModelSpec
from nalm.errors import ArgumentError
from nalm.experiment.run import Cell
from nalm.papers.scale import Scale, make_scale, shortened, shorter
from nalm.tasks import ArithmeticDataset
from nalm.training.recipe import L1, Growth, PCCThenMSE, Ramp, Recipe, UnitPenalty


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


def test_a_shortened_cell_has_another_identity():
    cell = Cell(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"))
    short = shortened(cell, 0.02)
    assert short.recipe.iterations == 100_000
    assert short.text != cell.text


def test_the_command_says_what_was_asked_for():
    scale = make_scale("quick", 7, 0.5, ["NMU", "NAC+"])
    said = "nalm reproduce a:b --scale quick --seeds 7 --steps 0.5 --rows 'NMU;NAC+'"
    assert scale.command("a:b") == said
    assert Scale().command("a:b") == "nalm reproduce a:b"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slow",), "`scale`"),
        (("paper", 0), "`seeds`"),
        (("paper", 1, 0.0), "`steps`"),
        (("paper", 1, 2), "`steps`"),
    ],
)
def test_wrong_scales_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        make_scale(*arguments)
