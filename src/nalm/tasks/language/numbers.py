"""Which numbers are trained on, which choose the best step, and which test (Trask et al. 2018, section 4.3).

169, 200 and 631 numbers. They sum to 1000, though "from 0 to 1000" would be 1001 numbers: these are 0 to 999.
Training has 0 to 19, and every word occurs in it.

Ours: the paper does not have the numbers themselves; here they are drawn from a stream of their own, the
same for every run. The three numbers of its figure 3 are always in the test set, so that the figure can be
made again with numbers that were not trained on.
"""

from __future__ import annotations

import functools

import torch

from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks._base import Split
from nalm.tasks.language.words import LIMIT, VOCABULARY, words_of

SIZES = {Split.TRAIN: 169, Split.VALIDATION: 200, Split.TEST: 631}
ALWAYS_TRAINED = range(20)
SHOWN = (334, 702, 88)
"""The numbers of figure 3."""
_STREAM = (Purpose.TASK, 2)


@functools.cache
def numbers_of(split: str, draw: int = 0) -> tuple[int, ...]:
    """The numbers of a split in ascending order; `draw` chooses another division of all numbers."""
    trained, validation = SIZES[Split.TRAIN], SIZES[Split.VALIDATION]
    free = [number for number in _shuffled(draw) if number not in ALWAYS_TRAINED and number not in SHOWN]
    needed = _needed(free)
    order = [*needed, *(number for number in free if number not in needed)]
    left = trained - len(ALWAYS_TRAINED)
    parts = {
        Split.TRAIN: [*ALWAYS_TRAINED, *order[:left]],
        Split.VALIDATION: order[left : left + validation],
        Split.TEST: [*order[left + validation :], *SHOWN],
    }
    return tuple(sorted(parts[Split(split)]))


def _shuffled(draw: int) -> list[int]:
    """All numbers in a random order."""
    u = uniform(key(torch.tensor([draw], dtype=torch.int32), *_STREAM), counters(LIMIT), torch.float64)
    order: list[int] = u[0].argsort().tolist()
    return order


def _needed(order: list[int]) -> list[int]:
    """For each word that 0 to 19 do not have, the first number in this order that has it."""
    missing = set(VOCABULARY) - {word for number in ALWAYS_TRAINED for word in words_of(number)}
    found: dict[int, None] = {}
    for number in order:
        if missing & set(words_of(number)):
            missing -= set(words_of(number))
            found[number] = None
    return list(found)
