import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.tasks import TASKS, Split, TenParameters


def test_the_target_is_the_product_of_the_two_sums():
    task = TASKS["ten-parameters"].of("mul", "1:2")
    u = torch.rand(1, 4, 50, dtype=torch.float64)
    numbers = {k: torch.tensor([v], dtype=torch.float64) for k, v in task.numbers(7, Split.TRAIN).items()}
    x, y = (tensor[0].numpy() for tensor in task.batch(u, numbers))
    assert np.allclose(y[:, 0], (x[:, 0] + x[:, 1]) * x.sum(-1))
    assert ((x > 1) & (x < 2)).all()


def test_the_subsets_are_the_same_for_every_seed():
    assert np.array_equal(TenParameters().subsets(0), TenParameters().subsets(5))


def test_the_ideal_weights_are_ten():
    model = torch.nn.Sequential(nalm.NAU(4, 2), nalm.NMU(2, 1))
    TenParameters().ideal_(model, 0)
    assert sum(p.numel() for p in model.parameters()) == 10
    assert model(torch.tensor([[1.0, 2.0, 3.0, 4.0]])).item() == 30


def test_its_name_is_not_that_of_the_arithmetic_dataset():
    assert TenParameters().identity()["name"] == "ten-parameters"
    assert "subset_ratio" not in TenParameters().identity()


def test_it_has_four_inputs():
    with pytest.raises(ArgumentError, match="`inputs` must be 4"):
        TenParameters("mul", "1:2", 5)
