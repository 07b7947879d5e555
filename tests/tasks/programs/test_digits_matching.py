"""The share of matching digits: places from the units up, the sign, and what is no number."""

import pytest
import torch

from nalm.tasks.programs.measures import WrongDigits, matching


@pytest.mark.parametrize(
    ("said", "true", "share"),
    [
        (1234, 1234, 1),
        (1234.4, 1234, 1),
        (1233.4, 1234, 0.75),
        (2234, 1234, 0.75),
        (234, 1234, 0.75),
        (11234, 1234, 1),
        (-1234, 1234, 0),
        (-87, -87, 1),
        (0, 0, 1),
        (3, 0, 0),
        (0.2, 7, 0),
        (19998, 19998, 1),
        (float("nan"), 55, 0),
        (float("inf"), 55, 0),
    ],
)
def test_share_of_matching_digits(said, true, share):
    assert matching(torch.tensor([said]), torch.tensor([float(true)])).item() == pytest.approx(share)


def test_the_measure_sums_what_is_wrong():
    said, true = torch.tensor([[[12.0], [30.0], [5.0]]]), torch.tensor([[[12.0], [35.0], [6.0]]])
    assert WrongDigits().total(said, true).tolist() == [1.5]
