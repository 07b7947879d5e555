"""The result of second-order training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from torch import nn


class Found(StrEnum):
    """What was found."""

    EXACT = "exact"
    """A formula that fits every given row to the data's precision, and that rows could have contradicted."""
    DISCRETE = "discrete"
    """Discrete weights that leave only noise unexplained, or a formula supported by too few rows."""
    APPROXIMATE = "approximate"
    """Continuous weights that explain more than half of the variance; no discrete weights are as good."""
    FAILED = "failed"
    """Less than half of the variance of some output is explained."""


@dataclass(frozen=True)
class Cost:
    """The cost and outcome of second-order training, as plain data that are stored with a run.

    Attributes:
        found: exact, discrete, approximate or failed.
        start: the kind of start of the chosen member.
        starts: number of members of the population that were trained.
        steps: steps of all members together.
        chosen_steps: steps of the chosen member.
        seconds: the time it took.
        error: mean squared error on fresh rows.
        unexplained: share of the variance left unexplained, for the output where it is largest: on all rows
            for discrete weights; on all rows or on fresh rows, whichever is larger, for continuous weights.
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
        model: the model that was passed in, now with the weights that were found.
        found: exact, discrete, approximate or failed.
        unique: True only if the rows are known to determine the formula: it is exact or discrete, every
            neighbouring discrete value of a weight is ruled out, there are enough rows, and no column is
            nearly a copy, a combination or a product of others.
        notes: sentences about the data, and about what is left unexplained.
        cost: starts, steps, seconds, and the errors on fresh rows.
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
        """Mean squared error on rows that were not used for fitting."""
        return self.cost.error

    @property
    def r2(self) -> float:
        """The share of the variance that is explained, for the output where it is smallest; at most 1."""
        return 1 - self.cost.unexplained

    def __str__(self) -> str:
        how = f"{self.cost.start}, {self.cost.steps} steps of {self.cost.starts} starts"
        first = f"{self.headline}: mean squared error {self.error:.3g} on held-out rows ({how})."
        return " ".join([first, *self.notes])

    @property
    def headline(self) -> str:
        """What was found, and how much it leaves unexplained."""
        if self.found is Found.EXACT:
            return str(self.found)
        if self.found is Found.DISCRETE:
            share = 100 * self.cost.unexplained
            return f"{self.found}, {f'{share:.2g}' if share < 10 else f'{share:.0f}'} % unexplained"
        return f"{self.found}, R2 {self.r2:.3g}"
