"""The single module task: one unit, y = x1 op x2, any number of further inputs that do not matter.

Thesis, section 3.3 (2 inputs) and section 5.3 (10 inputs). The relevant inputs are the first two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice, check_positive
from nalm.tasks._base import OPERATIONS, Numbers, Split
from nalm.tasks._sampling import RangeTask, apply_operation, draw_range
from nalm.tasks.ranges import parse_pair
from nalm.units._base import units_of


@dataclass(frozen=True)
class SingleModule(RangeTask):
    """y = x1 op x2 with `inputs` inputs on a training and a test range.

    Args:
        op: add, sub, mul or div.
        range: name of one of the nine ranges, or `train=>test` such as `1:2=>2:6`.
        inputs: number of inputs, of which the first two matter.
    """

    op: str
    range: str = "1:2"
    inputs: int = 2

    name = "single-module"

    def __post_init__(self) -> None:
        check_choice("op", self.op, OPERATIONS)
        if check_positive("inputs", self.inputs) < 2:
            raise ArgumentError("inputs", "2 or more", repr(self.inputs))
        parse_pair(self.range)

    def numbers(self, seed: int, split: Split) -> dict[str, Any]:
        """Operation and range."""
        return {
            "op": OPERATIONS.index(self.op),
            **super().numbers(seed, split),
        }

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = draw_range(u, numbers)
        y = apply_operation(numbers["op"], x[:, 0], x[:, 1])
        return x.mT, y[..., None]

    def threshold(self, split: Split = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """Mean squared error of the epsilon-perfect model (thesis, section 3.3.1), in closed form.

        None for a quotient on a range that touches zero, where the expected error is infinite.
        """
        span = self.range_of(split)
        square, absolute = span.moment(2), span.mean_absolute()
        if self.op in ("add", "sub"):
            return epsilon**2 * self.inputs * (square + (self.inputs - 1) * absolute**2)
        # E[(1 - k)^2] of the factor k that the prediction is off by is (1 - E[k])^2 + Var[k], and both terms
        # are computed by logarithms: written out, they are differences of numbers that are almost equal.
        irrelevant, loss = self.inputs - 2, math.log1p(-epsilon)
        relevant = 2 * loss if self.op == "mul" else loss - math.log1p(epsilon)
        mean = relevant + irrelevant * math.log1p(-epsilon * absolute)
        spread = epsilon**2 * (square - absolute**2) / (1 - epsilon * absolute) ** 2
        variance = math.exp(2 * mean) * math.expm1(irrelevant * math.log1p(spread))
        other = square if self.op == "mul" else span.mean_inverse_square()
        error = square * other * (math.expm1(mean) ** 2 + variance)
        return error if math.isfinite(error) else None

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place; the model must be a single unit."""
        (unit,) = units_of(model)
        unit.ideal_(self.op, 0, 1)
