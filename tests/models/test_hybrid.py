"""The hybrid layer: iNALUs and ReLU neurons side by side."""

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import Hybrid


@pytest.mark.parametrize(
    ("outputs", "arithmetic", "counts"), [(4, -1, (2, 2)), (5, -1, (3, 2)), (4, 1, (1, 3))]
)
def test_half_of_the_outputs_are_inalus_or_as_many_as_wanted(outputs, arithmetic, counts):
    layer = Hybrid(3, outputs, arithmetic=arithmetic)
    assert tuple(part.out_features for part in layer.parts.values()) == counts


def test_a_single_output_is_an_inalu():
    assert list(Hybrid(3, 1).parts) == ["inalu"]


@pytest.mark.parametrize("arithmetic", [0, 3, True, 1.5])
def test_other_numbers_are_refused(arithmetic):
    with pytest.raises(ArgumentError, match="`arithmetic` must be -1, or from 1 to the 2 outputs"):
        Hybrid(3, 2, arithmetic=arithmetic)


def test_relu_neurons_are_read_as_a_maximum():
    layer = Hybrid(2, 2)
    layer.ideal_("sub", 0, 1)
    assert layer(torch.tensor([[2.0, 5.0]])).tolist() == [[-3.0, 0.0]]
    assert str(nalm.explain(layer, ["a", "b"])) == "a - b, Max(0, a - b)"


def test_its_recipe_is_that_of_the_inalu():
    assert Hybrid.recipe("mul") == nalm.INALU.recipe("mul")
