"""Pairs of digits in folds: what is tested on is never trained on, although each of its digits is."""

import itertools
from collections import Counter

import pytest
import torch
from digit_batches import LARGEST, SMALLEST

from nalm.tasks.digits.pairs import fold_pairs, picked_digits, picked_images
from nalm.tasks.digits.pools import sorted_pool

SETTINGS = [
    {"folds": 10, "zeros": True},
    {"folds": 10, "zeros": False},
    {"folds": 3, "zeros": True, "validation": 15},
]
SETS = ("train", "validation", "test")


def every_pair(zeros):
    digits = range(10) if zeros else range(1, 10)
    return set(itertools.product(digits, digits))


def folds(folds, **options):
    return [fold_pairs(fold, folds, **options) for fold in range(folds)]


@pytest.mark.parametrize("options", SETTINGS)
def test_every_pair_is_in_one_of_the_sets_of_a_fold(options):
    for held in folds(**options):
        listed = [pair for name in SETS for pair in held[name]]
        assert len(listed) == len(set(listed))
        assert set(listed) == every_pair(options["zeros"])


@pytest.mark.parametrize("options", SETTINGS)
def test_every_pair_is_tested_on_once_over_all_folds(options):
    tested = Counter(pair for held in folds(**options) for pair in held["test"])
    assert set(tested) == every_pair(options["zeros"])
    assert set(tested.values()) == {1}


@pytest.mark.parametrize("options", SETTINGS)
def test_every_digit_is_trained_on_in_both_places(options):
    digits = set(range(0 if options["zeros"] else 1, 10))
    for held in folds(**options):
        first, second = (set(places) for places in zip(*held["train"]))
        assert first == second == digits


def sizes(**options):
    return [tuple(len(held[name]) for name in SETS) for held in folds(**options)]


def test_ninety_pairs_are_trained_on_and_ten_are_tested_on():
    assert sizes(folds=10) == [(90, 0, 10)] * 10


def test_of_81_pairs_without_zeros_eight_or_nine_are_tested_on():
    found = sizes(folds=10, zeros=False)
    assert set(found) == {(73, 0, 8), (72, 0, 9)}
    assert sum(test for *_, test in found) == 81


def test_of_three_folds_a_third_is_tested_on_and_fifteen_pairs_validate():
    found = sizes(folds=3, validation=15)
    assert set(found) == {(51, 15, 34), (52, 15, 33)}  # the thesis has 51, 15 and 34, which cannot be thrice
    assert sum(test for *_, test in found) == 100


def test_order_counts():
    held = fold_pairs(0, 10)
    assert any((b, a) in held["train"] for a, b in held["test"] if a != b)


def test_folds_are_the_same_at_every_call_and_differ():
    fresh = fold_pairs.__wrapped__
    assert fresh(3, 10) == fresh(3, 10) == fold_pairs(3, 10)
    assert not set(fold_pairs(3, 10)["test"]) & set(fold_pairs(4, 10)["test"])


def test_pairs_are_no_rows_of_a_table_of_products():
    """A fold is drawn: it is not all pairs with one digit, which could then not be learnt."""
    for held in folds(folds=10):
        assert len({first for first, _ in held["test"]}) > 1


# -- drawn from uniform numbers ------------------------------------------------------------------


def test_a_uniform_number_picks_a_pair_and_all_are_picked_equally_often():
    pairs = torch.tensor([fold_pairs(0, 10)["test"], fold_pairs(1, 10)["test"]], dtype=torch.float32)
    u = ((torch.arange(1000) + 0.5) / 1000).expand(2, -1)
    digits = picked_digits(u, pairs)
    assert digits.shape == (2, 1000, 2)
    for run in range(2):
        found = Counter(map(tuple, digits[run].tolist()))
        assert found == dict.fromkeys(map(tuple, pairs[run].tolist()), 100)


@pytest.mark.parametrize(("u", "place"), [(SMALLEST, 0), (LARGEST, -1)])
@pytest.mark.parametrize("count", [1, 10, 73, 90])
def test_the_least_and_the_largest_number_pick_the_first_and_the_last(u, place, count):
    pairs = torch.tensor([[(k, k + 1) for k in range(count)]], dtype=torch.float32)
    assert picked_digits(torch.tensor([[u]]), pairs)[0, 0].tolist() == pairs[0, place].tolist()


@pytest.mark.parametrize("u", [SMALLEST, 0.5, LARGEST])
def test_an_image_of_the_digit_is_picked(u):
    held, starts, counts = sorted_pool("drawn", "train")
    digits = torch.arange(10)[None, :, None].expand(1, 10, 2)
    index = picked_images(torch.full((1, 10, 2), u), digits, {"starts": starts, "counts": counts})
    assert torch.equal(held.labels[index], digits)
