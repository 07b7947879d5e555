"""A unit, whose recipe has a part of this package."""

from torch import Tensor

import nalm
from nalm.recipes import Recipe, UnitPenalty
from their_package.recipe import Pulse


class Blend(nalm.Unit):
    """y = W x, with a penalty on large weights that comes and goes."""

    ops = ("add", "sub")

    def build(self) -> None:
        self.declare("W", (self.out_features, self.in_features), lambda u: 2 * u - 1)

    def compute(self, x: Tensor) -> Tensor:
        return x @ self.W.mT

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}

    def penalty(self) -> Tensor:
        return self.W.square().mean((-2, -1))

    @classmethod
    def make_recipe(cls, op: str, name: str, inputs: int) -> Recipe:
        return Recipe(penalties=(UnitPenalty(1e-3, Pulse(every=400.0)),))
