"""The reciprocal task: y = 1 / x1, close to zero.

Thesis, section 5.8: one input (5,000 steps, no penalty), or two of which the second does not matter. The
third task of that section, a quotient, is the single module task on the same ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor, nn

from nalm.errors import check_choice
from nalm.tasks._base import Numbers, Split
from nalm.tasks._sampling import RangeTask, check_inputs, factor_error
from nalm.tasks.known_ranges import RANGE_SETS, parse_pair
from nalm.units._base import outer_units

if TYPE_CHECKING:
    from nalm.recipes import Recipe


@dataclass(frozen=True)
class Reciprocal(RangeTask):
    """y = 1 / x1 with `inputs` inputs; by default on ranges that touch zero, tested where it is trained.

    Args:
        op: reciprocal.
        range: a name from `nalm list ranges`, or `train=>test` such as `1:2=>2:6`.
        inputs: number of inputs, of which the first matters.
    """

    op: str = "reciprocal"
    range: str = "0:1"
    inputs: int = 1

    name = "reciprocal"
    ops = ("reciprocal",)
    ranges: ClassVar[tuple[str, ...]] = RANGE_SETS["near-zero"]

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_inputs(self.inputs, 1)
        parse_pair(self.range)

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = self.draw(u, numbers)
        return x.mT, 1 / x[:, 0, :, None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float | None:
        """Mean squared error of a model whose reciprocal is off by the factor 1 / (1 + epsilon).

        Further inputs are off as in the single module task. None on a range that touches zero, where runs
        are judged by the error of ideal weights instead.
        """
        drawn = [self.range_of(split).of_input(k) for k in range(self.inputs)]
        off = factor_error(-math.log1p(epsilon), drawn[1:], epsilon)
        error = drawn[0].mean_inverse_square() * off
        return error if math.isfinite(error) else None

    def adapt(self, recipe: Recipe) -> Recipe:
        """With one input, 5,000 steps without penalties (thesis, section 5.8.2)."""
        return recipe if self.inputs > 1 else replace(recipe, iterations=5_000, penalties=())

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place; the model must be a single unit."""
        (unit,) = outer_units(model)
        unit.ideal_(self.op, 0)
