"""A recipe refuses what cannot be trained with, when it is made."""

import pytest

from nalm.errors import ArgumentError
from nalm.recipes import SGD, Adam, ClipNorm, Project, Recipe, UnitPenalty


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"iterations": -1}, "iterations"),
        ({"loss": "mse"}, "loss"),
        ({"penalties": UnitPenalty()}, "penalties"),
        ({"clamps": Project()}, "clamps"),
        ({"clip_norm": 1.0}, "clip_norm"),
        ({"optimiser": Adam(float("nan"))}, "recipe"),
        ({"optimiser": SGD(-1.0)}, "learning_rate"),
    ],
)
def test_wrong_parts_are_named(wrong, named):
    with pytest.raises(ArgumentError, match=f"`{named}`"):
        Recipe(**wrong)


def test_right_parts_are_taken():
    assert Recipe(clip_norm=ClipNorm(1.0), penalties=(UnitPenalty(),)).clip_norm.norm == 1.0
