"""The single module task: one unit, y = x1 op x2, any number of further inputs that do not matter.

Thesis, section 3.3 (2 inputs), section 5.3 (10 inputs), sections 5.6 to 5.8 (other distributions). The
relevant inputs are the first two.

Deviations: table 5.2 is taken literally: the first input comes from one range and the second from the other.
With 10 inputs the further ones alternate, so that five come from each range. Public code draws the first five
columns from one range and the last five from the other, and picks two neighbouring columns as operands for
each seed, which mostly come from the same range; it tests set 3 on the union of both ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from nalm.errors import check_choice
from nalm.tasks._base import OPERATIONS, Numbers, Split
from nalm.tasks._sampling import RangeTask, apply_operation, check_inputs, factor_error
from nalm.tasks.known_ranges import parse_pair
from nalm.units._base import outer_units


@dataclass(frozen=True)
class SingleModule(RangeTask):
    """y = x1 op x2 with `inputs` inputs on a training and a test range.

    Args:
        op: add, sub, mul or div.
        range: a name from `nalm list ranges`, or `train=>test` such as `1:2=>2:6`.
        inputs: number of inputs, of which the first two matter.
    """

    op: str
    range: str = "1:2"
    inputs: int = 2

    name = "single-module"
    ops = OPERATIONS

    def __post_init__(self) -> None:
        check_choice("op", self.op, OPERATIONS)
        check_inputs(self.inputs, 2)
        parse_pair(self.range)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """Operation and range."""
        return {
            "op": OPERATIONS.index(self.op),
            **super().numbers(seed, split),
        }

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = self.draw(u, numbers)
        y = apply_operation(numbers["op"], x[:, 0], x[:, 1])
        return x.mT, y[..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """Mean squared error of the epsilon-perfect model (thesis, section 3.3.1), in closed form.

        None for a quotient on a range that touches zero, where the expected error is infinite; runs are then
        judged by the error of ideal weights on their data (thesis, section 5.8.2).
        """
        drawn = [self.range_of(split).of_input(k) for k in range(self.inputs)]
        square, absolute = [d.moment(2) for d in drawn], [d.mean_absolute() for d in drawn]
        spread = [s - a**2 for s, a in zip(square, absolute)]
        if self.op in ("add", "sub"):  # E[(sum of epsilon |x|)^2]
            return epsilon**2 * (sum(absolute) ** 2 + sum(spread))
        second = math.log1p(-epsilon) if self.op == "mul" else -math.log1p(epsilon)
        off = factor_error(math.log1p(-epsilon) + second, drawn[2:], epsilon)
        other = square[1] if self.op == "mul" else drawn[1].mean_inverse_square()
        error = square[0] * other * off
        return error if math.isfinite(error) else None

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place; the model must be a single unit."""
        (unit,) = outer_units(model)
        unit.ideal_(self.op, 0, 1)
