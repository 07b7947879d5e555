"""Whole numbers below 1000 in English words, and words as one-hot vectors.

A table of 28 words and one rule. The library num2words knows many languages, dates and currencies, none of
which is needed here; the tests compare every number with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.errors import ArgumentError, unknown

_BELOW_TWENTY = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VOCABULARY = (*_BELOW_TWENTY, *_TENS, "hundred", "and")
"""All words."""
LIMIT = 1000
"""Numbers are below this."""
LONGEST = 5
"""Words of the longest number, such as "three hundred and thirty four"."""
_PLACES = {word: k for k, word in enumerate(VOCABULARY)}


def words_of(number: int) -> list[str]:
    """The words of a number: 334 is "three hundred and thirty four"."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < LIMIT:
        raise ArgumentError("number", f"a whole number from 0 to {LIMIT - 1}", repr(number))
    hundreds, rest = divmod(number, 100)
    before = [_BELOW_TWENTY[hundreds], "hundred"] if hundreds else []
    if before and not rest:
        return before
    return [*before, *(["and"] if before else []), *_below_hundred(rest)]


def _below_hundred(number: int) -> list[str]:
    if number < 20:
        return [_BELOW_TWENTY[number]]
    tens, ones = divmod(number, 10)
    return [_TENS[tens - 2], *([_BELOW_TWENTY[ones]] if ones else [])]


def one_hot(words: Sequence[str], length: int = LONGEST) -> Tensor:
    """A sentence as one-hot vectors `length x vocabulary`, with silence, which is zeros, before it."""
    for word in words:
        if word not in _PLACES:
            raise unknown("words", word, VOCABULARY)
    if not 1 <= len(words) <= length:
        raise ArgumentError("words", f"one to {length} words", f"{len(words)} words")
    vectors = torch.zeros(length, len(VOCABULARY))
    vectors[range(length - len(words), length), [_PLACES[word] for word in words]] = 1
    return vectors
