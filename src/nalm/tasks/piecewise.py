"""Piecewise functions of two numbers, by a comparison and two sums (thesis, appendix D.3.2).

The thesis names |a - b| as an example of a continuous function, and no discontinuous one. Ours: the larger of
two numbers is continuous too; "jump" is a + b where a > b and a - b elsewhere, "swap" is a where a < b and
-b elsewhere. Numbers are drawn as in the task comparison, whole numbers from -9 to 9 in training, so that
even a jump can be met exactly: no pair lies between its two sides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.branch import Branch
from nalm.recipes import Adam, Ramp, Recipe, UnitPenalty
from nalm.tasks._base import Facet, Numbers, Split
from nalm.tasks._fields import FieldTask
from nalm.tasks.comparison import TIMES, pairs, sizes_of
from nalm.tasks.measures import MeanSquaredError, WrongNumber

PIECES = {
    "abs": ((1.0, -1.0), (-1.0, 1.0)),
    "max": ((1.0, 0.0), (0.0, 1.0)),
    "jump": ((1.0, 1.0), (1.0, -1.0)),
    "swap": ((0.0, -1.0), (1.0, 0.0)),
}
"""The weights of a and b where a > b, and elsewhere."""
CONTINUOUS, DISCONTINUOUS = ("abs", "max"), ("jump", "swap")
STEPS = 5000


@dataclass(frozen=True)
class Piecewise(FieldTask):
    """One of two sums of a and b, chosen by whether a > b.

    Attributes:
        discrete: whether comparisons and weights of sums are rounded outside training; ours.
    """

    discrete: bool = False

    name = "piecewise"
    ops = tuple(PIECES)
    models: ClassVar[tuple[str, ...]] = ("nsr", "nsr(redundancy=10)")
    shared: ClassVar[tuple[str, ...]] = ("discrete",)
    tests = tuple(TIMES)
    measures = (MeanSquaredError(), WrongNumber())
    in_features = 2
    draws = 4

    def network(self, unit: nn.Module) -> nn.Module:
        """The comparison and two sums."""
        return Branch(unit, 2, discrete=self.discrete)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The two sums, and the sizes of numbers."""
        return {"pieces": [list(piece) for piece in PIECES[self.op]], **sizes_of("integers", split)}

    def samples(self, split: str) -> int:
        """Pairs of an evaluation."""
        return 10_000 if split != Split.VALIDATION else 2000

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Pairs, and the result."""
        x = pairs(u, numbers).mT
        above, elsewhere = ((x * piece[:, None]).sum(-1) for piece in numbers["pieces"].unbind(1))
        return x, torch.where(x[..., 0] > x[..., 1], above, elsewhere)[..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """A root mean squared error of 0.1: the result is then almost always right when rounded."""
        return 0.01

    def facets(self) -> tuple[Facet, ...]:
        """By how many times numbers are larger; a run succeeds if every result, rounded, is right."""
        return tuple(
            Facet({"times": times}, f"{split}/{WrongNumber().name}", below=0.5 / self.samples(split))
            for split, times in TIMES.items()
        )

    def adapt(self, recipe: Recipe) -> Recipe:
        """See `branch_recipe`."""
        if recipe.trainer != "engine":
            return recipe
        return branch_recipe(recipe, STEPS)


def branch_recipe(recipe: Recipe, steps: int) -> Recipe:
    """Ours: Adam with the rate 0.01; a penalty makes the sums' weights discrete from half of the steps on.

    Eagerly, because such networks take longer to compile than to train.
    """
    discrete = UnitPenalty(0.1, Ramp(0.5 * steps, 0.75 * steps), unit="nau")
    return replace(recipe, optimiser=Adam(1e-2), penalties=(discrete,), iterations=steps, by="eager")
