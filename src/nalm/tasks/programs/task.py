"""Program evaluation: trained on integers of up to two digits, tested with three and four (Trask et al. 2018,
section 4.4, appendix E).

The loss is the root of the mean squared error, as in the paper. It says neither optimiser, steps, batch nor
sizes: here Adam with the rate 0.01, batches of 128 fresh programs, 100,000 steps; in the reduced protocol
5,000 for sums and 10,000 for programs, whose rate falls to zero in their second half. The rate was chosen by
validation: after 3,000 steps with 0.001 an LSTM had an error of 45 on sums, with 0.01 one of 0.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice
from nalm.models.program_network import ProgramNetwork
from nalm.recipes import RMSE, Adam, Falling, LevenbergMarquardt, Loss, Optimiser, Recipe
from nalm.tasks._base import Facet, Numbers, Split, Task
from nalm.tasks.measures import MeanSquaredError, Measure
from nalm.tasks.programs.grammar import FEATURES, GRAMMARS, Grammar
from nalm.tasks.programs.measures import WrongDigits

THREE = "three-digits"
"""The name of the test set with integers of three digits; the first test set has four."""
RANGES = {
    Split.TRAIN: (0, 100),
    Split.VALIDATION: (0, 100),
    THREE: (100, 1000),
    Split.TEST: (1000, 10_000),
}
"""The integers of each split, the last one excluded."""
STEPS, QUICK_STEPS = 100_000, {"sum": 5_000, "program": 10_000}
RATE, BATCH = 1e-2, 128


@dataclass(frozen=True)
class Programs(Task):
    """Programs to their results.

    Attributes:
        op: the kind of program: "sum" of two integers, or "program" with an if, + and -.
        protocol: "paper", or "quick" for fewer steps.
    """

    op: str = "sum"
    protocol: str = "paper"

    name = "programs"
    ops = ("sum", "program")
    models: ClassVar[tuple[str, ...]] = ("configured-nalu", "configured-nau", "ugrnn", "lstm", "dnc")
    stack_recipe = "published"
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 10, "paper": 10}
    has_sequences: ClassVar[bool] = True
    tests: tuple[str, ...] = (Split.TEST, THREE)
    measures: tuple[Measure, ...] = (MeanSquaredError(), WrongDigits())
    loss: Loss = RMSE()
    in_features = FEATURES + 1

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_choice("protocol", self.protocol, ("paper", "quick"))

    @property
    def grammar(self) -> Grammar:
        """How programs are written."""
        return GRAMMARS[self.op]

    @property
    def recipe_op(self) -> None:
        """Any: a unit may compute what it likes."""
        return None

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A program."""
        return (self.grammar.length, FEATURES)

    @property
    def input_names(self) -> list[str]:
        """What a unit as a cell takes: the symbol, the number, the state."""
        return [*(f"symbol{k}" for k in range(FEATURES - 1)), "number", "state"]

    @property
    def draws(self) -> int:
        """Integers and choices."""
        return self.grammar.draws

    @property
    def steps(self) -> int:
        """Steps of training."""
        return QUICK_STEPS[self.op] if self.protocol == "quick" else STEPS

    @property
    def seconds_per_step(self) -> float:  # type: ignore[override]
        """The mean over the networks of the papers, in proportion to the length of a program."""
        return 0.004 * self.grammar.length

    @property
    def log_interval(self) -> int:  # type: ignore[override]
        """A twentieth of the steps."""
        return self.steps // 20

    def network(self, unit: nn.Module) -> nn.Module:
        """The recurrent network, or the unit as a cell, and its output after the last step."""
        return ProgramNetwork(unit, FEATURES)

    def shape(self) -> Hashable:
        """All fields."""
        return (type(self), *(getattr(self, field.name) for field in fields(self)))

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """The range of integers."""
        low, high = RANGES[split]
        return {"low": float(low), "high": float(high)}

    def samples(self, split: str) -> int:
        """Programs to evaluate on."""
        return 1000

    def block(self, split: str) -> int:
        """Programs at once."""
        return 500

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Programs and their results."""
        return self.grammar.programs(u, numbers["low"], numbers["high"])

    def identity(self) -> dict[str, Any]:
        """The fields that are not defaults."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {**own, "name": self.name, "op": self.op}

    def labels(self) -> dict[str, str | int]:
        """The kind of program, and a reduced protocol."""
        return {"op": self.op, **({} if self.protocol == "paper" else {"protocol": self.protocol})}

    def about(self) -> dict[str, Any]:
        """Labels and the kind of program."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run."""
        return cls(**{f.name: identity[f.name] for f in fields(cls) if f.name in identity})

    @classmethod
    def variants(cls) -> list[Task]:
        """Both kinds of programs."""
        return [cls(op) for op in cls.ops]

    def facets(self) -> tuple[Facet, ...]:
        """One row of results for each number of digits."""
        sets = {2: Split.VALIDATION, 3: THREE, 4: Split.TEST}
        return tuple(Facet({"digits": digits}, f"{split}/wrong_digits") for digits, split in sets.items())

    def reduced(self) -> Self:
        """The task with the reduced protocol."""
        return replace(self, protocol="quick")

    def adapt(self, recipe: Recipe) -> Recipe:
        """Adam; networks train one after the other, because their steps in time do not fit one program."""
        if isinstance(recipe.optimiser, LevenbergMarquardt):
            expected = f"one that trains step by step: the networks of {self.name} are too large to be solved"
            raise ArgumentError("recipe", expected, "second-order")
        return replace(
            recipe, optimiser=self._optimiser(), iterations=self.steps, batch_size=BATCH, by="loop"
        )

    def _optimiser(self) -> Optimiser:
        adam = Adam(RATE)
        return Falling(adam, 0.5 * self.steps, float(self.steps)) if self.protocol == "quick" else adam
