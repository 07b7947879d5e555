"""What a second-order training came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from torch import nn


class Found(StrEnum):
    """What was found."""

    EXACT = "exact"
    """A formula that meets every row given to the data's precision, and that rows could have contradicted."""
    DISCRETE = "discrete"
    """Discrete weights that leave noise unexplained, or a formula that too few rows bear out."""
    APPROXIMATE = "approximate"
    """Continuous weights that explain more than half of the variance; no discrete ones are as good."""
    FAILED = "failed"
    """Less than half of the variance is explained, of some output."""


@dataclass(frozen=True)
class Cost:
    """What it took and how it went, as plain numbers and words: kept with a run.

    Attributes:
        found: exact, discrete, approximate or failed.
        start: how the member that was chosen had begun.
        starts: members of the population that were trained.
        steps: steps of all of them together.
        chosen_steps: steps of the one that was chosen.
        seconds: how long it took.
        error: mean squared error on fresh rows.
        unexplained: part of the variance that is left, of the output of which most is: of all rows for
            discrete weights, of all rows or of fresh ones for continuous weights, whichever is more.
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
        found: exact, discrete, approximate or failed.
        unique: True only if it was established that the rows lead to one formula: it is exact or discrete,
            every next discrete value of a weight is ruled out, there are enough rows, and no column is nearly
            a copy, a combination or a product of others.
        notes: sentences about the data, and about what is left unexplained.
        cost: what it took: starts, steps, seconds, and the errors on fresh rows.
        names: names of the columns of x, for `nalm.explain(solution.model, solution.names)`.
    """

    model: nn.Module
    found: Found
    unique: bool
    notes: tuple[str, ...]
    cost: Cost
    names: tuple[str, ...]

    @property
    def error(self) -> float:
        """Mean squared error on rows that were not fitted to."""
        return self.cost.error

    @property
    def r2(self) -> float:
        """The part of the variance that is explained, of the output of which least is; at most 1."""
        return 1 - self.cost.unexplained

    def __str__(self) -> str:
        how = f"{self.cost.start}, {self.cost.steps} steps of {self.cost.starts} starts"
        first = f"{self.headline}: mean squared error {self.error:.3g} on rows held back ({how})."
        return " ".join([first, *self.notes])

    @property
    def headline(self) -> str:
        """The word for what was found, and how much it leaves open."""
        if self.found is Found.EXACT:
            return str(self.found)
        if self.found is Found.DISCRETE:
            share = 100 * self.cost.unexplained
            return f"{self.found}, {f'{share:.2g}' if share < 10 else f'{share:.0f}'} % unexplained"
        return f"{self.found}, R2 {self.r2:.3g}"
