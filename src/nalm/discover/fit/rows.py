"""The rows of a table as the search uses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_MOST_ROWS = 1000
"""A search on more rows takes longer and finds no more."""
_HELD_BACK = 0.2
_ENOUGH = 25
"""With fewer rows none are held back."""


@dataclass(frozen=True)
class Rows:
    """Rows to fit to, and all rows that candidates are compared on.

    Attributes:
        x: inputs of the rows to fit to, `n x in`.
        y: their targets, shape `n`.
        all_x: inputs of these and of the rows held back.
        all_y: their targets.
    """

    x: np.ndarray
    y: np.ndarray
    all_x: np.ndarray
    all_y: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Rows:
        """Some rows of a table, of which a fifth is held back."""
        order = generator.permutation(len(x))[:_MOST_ROWS]
        fit = order[round(_HELD_BACK * len(order)) :] if len(order) >= _ENOUGH else order
        return cls(x[fit], y[fit], x[order], y[order])
