"""What second-order training can be used for."""

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.second_order.checks import check_model, dependent_columns

NAMES = ["a", "b", "c", "d"]


def rows():
    return torch.rand(50, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_too_many_parameters_are_refused_with_the_limit_and_what_to_use_instead():
    check_model(nalm.NAU(4096, 1))
    with pytest.raises(ArgumentError, match=r"at most 4,096 parameters.*got one of 4,097\. .*nalm\.train"):
        check_model(nalm.NAU(4097, 1))


def test_independent_columns_need_no_words():
    assert dependent_columns(rows(), NAMES) == []


def test_dependent_columns_are_named():
    x = rows()
    x[:, 1] = 3.5
    x[:, 2] = x[:, 0]
    constant, equal = dependent_columns(x, NAMES)
    assert constant == "Column b is constant (3.5): its effect is that of a constant term."
    assert equal == "Columns a and c are equal: either could replace the other."


def test_proportional_and_combined_columns_are_named():
    x = rows()
    x[:, 1] = -2 * x[:, 0]
    x[:, 3] = x[:, 0] + 1e-3 * x[:, 2]
    proportional, combined = dependent_columns(x, NAMES)
    assert proportional.startswith("Columns a and b are proportional")
    assert combined == "Column d is a combination of a, c."


def test_columns_of_any_size_are_compared():
    x = rows() * torch.tensor([1e-200, 1.0, 1e200, 1.0], dtype=torch.float64)
    x[:, 3] = x[:, 1] + 1e-7 * rows()[:, 3]
    assert dependent_columns(x, NAMES) == []
    x[:, 0] = 0
    assert dependent_columns(x, NAMES)[0].startswith("Column a is constant (0)")


def test_fewer_rows_than_columns_are_said():
    (note,) = dependent_columns(rows()[:3], NAMES)
    assert note == "There are fewer rows (3) than columns (4): many different weights fit them."


def test_a_combination_with_a_constant_column_is_named():
    x = rows()
    x[:, 0] = 1
    x[:, 2] = 3 - x[:, 1]
    constant, combined = dependent_columns(x, NAMES)
    assert constant.startswith("Column a is constant")
    assert combined == "Column c is a combination of a, b."


def test_columns_far_from_zero_are_not_taken_for_proportional():
    assert dependent_columns(1e6 + 1e-5 * rows(), NAMES) == []


def test_a_model_with_nothing_to_train_is_refused():
    unit = nalm.NMU(2, 1)
    unit.weight.requires_grad_(False)
    with pytest.raises(ArgumentError, match="a parameter that is not frozen"):
        check_model(unit)
