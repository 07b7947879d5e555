import pytest

from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.scale import Scale, make_scale, shortened
from nalm.tasks import ArithmeticDataset


def test_a_shortened_cell_has_another_identity():
    case = Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"))
    short = shortened(case, 0.02)
    assert short.recipe.iterations == 100_000
    assert short.text != case.text


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
