r"""Comparison: whether a < b, a > b, a <= b, a >= b, a = b or a != b (thesis, appendix D.3.2).

After Faber & Wattenhofer 2020. A third of the pairs are equal, a third differ as little as in training, a
third as much as their range allows; otherwise large numbers would hardly ever be close to each other.

The thesis has neither ranges nor settings. Ours: a is a whole number from -9 to 9 in training, or a number
from that interval ("floats"), and b differs by at least 1, or 1/2 for floats, or not at all. Tests have 10,
1000 and 100,000 times larger numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from nalm.errors import ArgumentError, check_choice
from nalm.recipes import Adam, Recipe
from nalm.tasks._base import Facet, Numbers, Split, Task
from nalm.tasks._fields import FieldTask
from nalm.tasks.measures import MeanSquaredError, WrongNumber

TRUTH = {
    "lt": (1.0, 0.0, 0.0),
    "gt": (0.0, 0.0, 1.0),
    "le": (1.0, 1.0, 0.0),
    "ge": (0.0, 1.0, 1.0),
    "eq": (0.0, 1.0, 0.0),
    "ne": (1.0, 0.0, 1.0),
}
"""Of each comparison: whether it is true for a < b, a = b, a > b."""
LARGEST = 9.0
"""The largest magnitude of a in training."""
TIMES = {"test": 10, "1000 times": 1000, "100000 times": 100_000}
"""The test sets, and how many times larger their numbers are."""
LEAST = {"integers": 1.0, "floats": 0.5}
"""The smallest difference of two numbers that are not equal."""


@dataclass(frozen=True)
class Comparison(FieldTask):
    """One of six comparisons of the first two of `inputs` numbers.

    Attributes:
        numbers_are: "integers" or "floats".
        inputs: number of inputs; the others have nothing to do with the answer.
    """

    numbers_are: str = "integers"
    inputs: int = 2

    name = "comparison"
    ops = tuple(TRUTH)
    models: ClassVar[tuple[str, ...]] = ("nsr", "nsr(redundancy=10)", "mlp")
    tests = tuple(TIMES)
    measures = (MeanSquaredError(), WrongNumber())
    shared: ClassVar[tuple[str, ...]] = ("inputs",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("numbers_are", self.numbers_are, LEAST)
        if isinstance(self.inputs, bool) or not isinstance(self.inputs, int) or self.inputs < 2:
            raise ArgumentError("inputs", "a whole number, at least 2", repr(self.inputs))

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """The number of inputs."""
        return self.inputs

    @property
    def draws(self) -> int:
        """One per input, and three for the difference of the first two: its kind, its size and its sign."""
        return self.inputs + 2

    def labels(self) -> dict[str, str | int]:
        """Operation and kind of numbers, and the number of inputs if it is not 2."""
        more = {"inputs": self.inputs} if self.inputs > 2 else {}
        return {"op": self.op, "numbers": self.numbers_are, **more}

    @classmethod
    def variants(cls) -> list[Task]:
        """Each comparison of integers and of floats."""
        return [cls(op, kind) for kind in LEAST for op in cls.ops]

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The answers, and the sizes of numbers."""
        return {"truth": list(TRUTH[self.op]), **sizes_of(self.numbers_are, split)}

    def samples(self, split: str) -> int:
        """Pairs of an evaluation."""
        return 10_000 if split != Split.VALIDATION else 2000

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs, and 1 or 0."""
        x = pairs(u, numbers)
        a, b = x[:, 0], x[:, 1]
        below, equal, above = (t[:, None] for t in numbers["truth"].unbind(-1))
        y = torch.where(a < b, below, torch.where(a > b, above, equal))
        return x.mT, y[..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """A root mean squared error of 0.1."""
        return 0.01

    def facets(self) -> tuple[Facet, ...]:
        """By how many times numbers are larger than in training; a run succeeds if no answer is wrong."""
        return tuple(
            Facet({"times": times}, f"{split}/{WrongNumber().name}", below=0.5 / self.samples(split))
            for split, times in TIMES.items()
        )

    def adapt(self, recipe: Recipe) -> Recipe:
        """Adam with the rate 0.01 for 5000 steps: ours, because the papers have no recipe.

        Eagerly: our loop has no softmax, and torch's compiler takes longer than these runs do.
        """
        if recipe.trainer != "engine":
            return recipe
        return replace(recipe, optimiser=Adam(1e-2), iterations=5000, by="eager")


def sizes_of(kind: str, split: str) -> dict[str, float]:
    """The numbers of a run that `pairs` takes, for "integers" or "floats" of a split."""
    return {
        "largest": LARGEST * TIMES.get(split, 1),
        "least": LEAST[kind],
        "whole": float(kind == "integers"),
    }


def pairs(u: Tensor, numbers: Numbers) -> Tensor:
    """Inputs `models x inputs x n`, of which the first two are equal, close or far apart.

    Args:
        u: uniform numbers `models x (inputs + 2) x n`: the last two are for the difference of the first two
            inputs, its kind, and its size with its sign.
        numbers: see `sizes_of`.
    """
    largest, least, whole = (numbers[name][:, None, None] for name in ("largest", "least", "whole"))
    x = (2 * u[:, :-2] - 1) * largest
    kind, size = u[:, -2:-1], 2 * u[:, -1:] - 1
    most = torch.where(kind < 2 / 3, torch.full_like(largest, LARGEST), 2 * largest)
    apart = size.sign() * (least + (most - least) * size.abs())
    apart = torch.where(kind < 1 / 3, torch.zeros_like(apart), apart)
    x, apart = (torch.where(whole > 0, value.round(), value) for value in (x, apart))
    return torch.cat([x[:, :1], x[:, :1] + apart, x[:, 2:]], 1)
