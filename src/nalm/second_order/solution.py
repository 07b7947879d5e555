"""What a second-order training came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from torch import nn


class Found(StrEnum):
    """What was found."""

    EXACT = "exact"
    """Discrete weights that are at least as good on fresh rows as any continuous ones."""
    APPROXIMATE = "approximate"
    """Continuous weights that explain the targets; no discrete ones are as good."""
    FAILED = "failed"
    """Less than half of the variance is explained, of some output."""


@dataclass(frozen=True)
class Cost:
    """What it took and how it went, as plain numbers and words: kept with a run.

    Attributes:
        found: exact, approximate or failed.
        start: how the member that was chosen had begun.
        starts: members of the population that were trained.
        steps: steps of all of them together.
        chosen_steps: steps of the one that was chosen.
        seconds: how long it took.
        error: mean squared error on fresh rows.
        unexplained: part of the variance that is left, of the output of which most is; 0 for a fit.
        error_before: the error before the weights were made discrete.
    """

    found: str
    start: str
    starts: int
    steps: int
    chosen_steps: int
    seconds: float
    error: float
    unexplained: float
    error_before: float

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Solution:
    """What `nalm.solve` returns.

    Attributes:
        model: the model that was handed in, now with the weights that were found.
        found: exact, approximate or failed.
        unique: whether the columns of x are independent of each other, in the sense of linear algebra, and no
            more than the rows; if not, `notes` says why. Other weights may then fit as well.
        notes: sentences about the data, and about what is left unexplained.
        cost: what it took: starts, steps, seconds, and the errors on fresh rows.
    """

    model: nn.Module
    found: Found
    unique: bool
    notes: tuple[str, ...]
    cost: Cost

    @property
    def error(self) -> float:
        """Mean squared error on rows that were not fitted to."""
        return self.cost.error

    def __str__(self) -> str:
        how = f"{self.cost.start}, {self.cost.steps} steps of {self.cost.starts} starts"
        first = f"{self.found}: mean squared error {self.error:.3g} on fresh rows ({how})."
        return " ".join([first, *self.notes])
