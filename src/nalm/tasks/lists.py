"""Lists of numbers, read one by one: their minimum, and how often a number occurs (thesis, appendix D.3.2).

The unit is the comparison of a recurrent cell that chooses between two sums, see `nalm.models.branch`. It is
trained on lists of ten, by the result after the last element alone, and tested on longer ones.

The thesis has no settings. Ours. Minimum: the state starts with the first element; the whole numbers of a
list lie within 10 of a centre of its own, a whole number from -10 to 10 (else long lists would all have the
same minimum). Counting: an element is a digit, the digit to count, and the number 1, which a sum can add to
the state; the state starts at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nalm.models.branch import ListReader
from nalm.recipes import Recipe
from nalm.tasks._base import Facet, Numbers, Split
from nalm.tasks._fields import FieldTask
from nalm.tasks.measures import MeanSquaredError, WrongNumber
from nalm.tasks.piecewise import branch_recipe

LENGTH = 10
"""The length of lists in training."""
LENGTHS = {"test": 10, "length 100": 100, "length 1000": 1000}
"""The test sets, and the lengths of their lists."""
WITHIN = 10
"""How far numbers may be from the centre of their list."""
ELEMENT = {"min": 1, "count": 3}
"""Values of an element."""
STEPS = 2000


@dataclass(frozen=True)
class Lists(FieldTask):
    """The minimum of a list, or how often a digit occurs in it.

    Attributes:
        discrete: whether comparisons and weights of sums are rounded outside training; ours.
    """

    discrete: bool = False

    name = "lists"
    ops = tuple(ELEMENT)
    models: ClassVar[tuple[str, ...]] = ("nsr", "nsr(redundancy=10)")
    tests = tuple(LENGTHS)
    measures = (MeanSquaredError(), WrongNumber())
    log_interval: int = 200
    shared: ClassVar[tuple[str, ...]] = ("op", "discrete")

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """What the unit takes: an element and the state."""
        return ELEMENT[self.op] + 1

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A list of training."""
        return (LENGTH, ELEMENT[self.op])

    @property
    def input_names(self) -> list[str]:
        """What the unit takes."""
        return ["element", "state"] if self.op == "min" else ["element", "wanted", "one", "state"]

    @property
    def draws(self) -> int:
        """One per element of a list of training, and one for its centre or the digit to count."""
        return LENGTH + 1

    def draws_in(self, split: str) -> int:
        """One per element, and one for the whole list."""
        return LENGTHS.get(split, LENGTH) + 1

    def network(self, unit: nn.Module) -> nn.Module:
        """The unit as the comparison of a recurrent cell."""
        return ListReader(unit, ELEMENT[self.op], starts_with_first=self.op == "min", discrete=self.discrete)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """None: all runs draw alike."""
        return {}

    def samples(self, split: str) -> int:
        """Lists of an evaluation."""
        return 1000

    def block(self, split: str) -> int:
        """All of them at once: the work of a step is mostly in starting it."""
        return 1000

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Lists `models x n x length x values`, and results."""
        each, whole = u[:, :-1].mT, u[:, -1]
        if self.op == "min":
            centre = ((2 * WITHIN + 1) * whole).floor() - WITHIN
            x = centre[..., None] + ((2 * WITHIN + 1) * each).floor() - WITHIN
            return x[..., None], x.amin(-1, keepdim=True)
        digits, wanted = (10 * each).floor(), (10 * whole).floor()[..., None]
        x = torch.stack([digits, wanted.expand_as(digits), torch.ones_like(digits)], -1)
        return x, (digits == wanted).to(u.dtype).sum(-1, keepdim=True)

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """A root mean squared error of 0.1."""
        return 0.01

    def facets(self) -> tuple[Facet, ...]:
        """By length; a run succeeds if every result, rounded, is right."""
        return tuple(
            Facet({"length": length}, f"{split}/{WrongNumber().name}", below=0.5 / self.samples(split))
            for split, length in LENGTHS.items()
        )

    def adapt(self, recipe: Recipe) -> Recipe:
        """As for piecewise functions."""
        if recipe.trainer != "engine":
            return recipe
        return branch_recipe(recipe, STEPS)
