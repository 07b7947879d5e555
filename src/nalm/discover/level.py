"""A level of values, sorted so that values close to a given one are found at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_FINEST = 1e9
"""Values whose relative difference is below the reciprocal of this count as equal."""
_AT_ONCE = 1_000_000
"""The most pairs that are compared at once."""


@dataclass(frozen=True)
class Level:
    """Values of expressions with the same number of steps.

    Attributes:
        start: the index of the first value; inputs begin at 0.
        values: up to sign, `values x rows`, positive in the first row.
        codes: the operation of each, as its place in `SIGNS`; -1 for an input.
        left: the index of the first operand.
        right: the index of the second operand.
        order: the places of the values, sorted by the first row.
        first: the first row, sorted.
    """

    start: int
    values: np.ndarray
    codes: np.ndarray
    left: np.ndarray
    right: np.ndarray
    order: np.ndarray
    first: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(
        cls, start: int, values: np.ndarray, codes: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> Level:
        """The level of these values, without those that are no numbers, zero at first, or there already."""
        if start > 0:  # inputs are all kept, so that their indices are those of the columns
            kept = _distinct(values, left)
            values, codes, left, right = (part[kept] for part in (values, codes, left, right))
        values = up_to_sign(values)
        order = np.argsort(values[:, 0], kind="stable")
        return cls(start, values, codes, left, right, order, values[order, 0])

    def near(self, targets: np.ndarray, tolerance: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of a target and the index of a value that is within its tolerance in every row.

        Args:
            targets: `targets x rows`, positive in the first row.
            tolerance: how far off a value may be, of the same shape.
        """
        sorted_ = np.argsort(targets[:, 0])  # neighbours are looked up one after the other, in the cache
        low, high = np.empty((2, len(targets)), dtype=np.int64)
        low[sorted_] = np.searchsorted(self.first, (targets[:, 0] - tolerance[:, 0])[sorted_], side="left")
        high[sorted_] = np.searchsorted(self.first, (targets[:, 0] + tolerance[:, 0])[sorted_], side="right")
        counts = np.maximum(high - low, 0)
        some = np.flatnonzero(counts)
        for part in np.array_split(some, max(1, int(counts.sum()) // _AT_ONCE)):
            which = np.repeat(part, counts[part])
            if not len(which):
                continue
            ends = np.cumsum(counts[part])
            offset = np.arange(len(which)) - np.repeat(ends - counts[part], counts[part])
            place = self.order[low[which] + offset]
            for row in range(1, targets.shape[1]):  # most pairs are ruled out by the second row
                close = np.abs(self.values[place, row] - targets[which, row]) <= tolerance[which, row]
                which, place = which[close], place[close]
            yield which, place + self.start


def up_to_sign(values: np.ndarray) -> np.ndarray:
    """The values with the sign that is positive in the first row."""
    return values * np.where(values[:, :1] < 0, -1.0, 1.0)


def _distinct(values: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Places of usable values, each once per first operand: other steps may be shared otherwise."""
    with np.errstate(all="ignore"):
        usable = np.isfinite(values).all(1) & (values[:, 0] != 0) & (np.abs(values) < 1e250).all(1)
        places = np.flatnonzero(usable)
        some = up_to_sign(values[places])
        scaled = np.rint(np.log(np.where(some == 0, 1e-200, np.abs(some))) * _FINEST).astype(np.int64)
    keys = np.zeros(len(places), dtype=np.uint64)
    for column, sign in zip(scaled.T, (some > 0).T):
        keys = (keys ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15) + sign
        keys ^= keys >> np.uint64(29)
    keys = (keys ^ left[places].astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
    return places[np.sort(np.unique(keys, return_index=True)[1])]
