"""Language to number: sentences such as "three hundred and thirty four" to 334 (Trask et al. 2018, 4.3, D).

Embedding, LSTM, then the unit under test, from the LSTM's states to one number. The whole training set is one
batch. The operation says how the states become one number: the results of the unit on each are summed, the
unit sees their sum, or the last one (see `nalm.models.word_reader`).

The paper has 300,000 steps of Adam; layer sizes 16 and 32 and learning rates 0.01 and 0.001 are chosen by
validation. It does not say the loss; here it is the mean absolute error, which the paper reports: in trials,
squared errors of several hundred threw a NALU back to predicting next to nothing (validation error of one
seed after 3,000 steps 387, with absolute errors 45). Penalties of units have their published strength and
grow in the third quarter of training.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice
from nalm.models.word_reader import COMBINE, WordReader
from nalm.recipes import (
    MAE,
    Adam,
    Discretise,
    Falling,
    LevenbergMarquardt,
    Loss,
    Optimiser,
    Ramp,
    Recipe,
    UnitPenalty,
)
from nalm.tasks._base import Numbers, Split, Task
from nalm.tasks.language.numbers import numbers_of
from nalm.tasks.language.words import LONGEST, VOCABULARY, one_hot, words_of
from nalm.tasks.measures import MeanAbsoluteError, MeanSquaredError, Measure

SEEN = "seen"
"""The name of the training numbers as a set to evaluate on."""
SIZES = (16, 32)
RATES = (0.01, 0.001)
STEPS, QUICK_STEPS = 300_000, 20_000


@dataclass(frozen=True)
class Language(Task):
    """Number words to numbers.

    Attributes:
        op: "outputs" if the results of the unit after each word are summed, "summed" if it sees the sum of
            the states, "final" if it sees the last one.
        size: values of an embedding and of a state.
        protocol: "paper", or "quick" for fewer steps and a learning rate that falls in their second half.
        draw: which division of the numbers into training, validation and test.
    """

    op: str = "outputs"
    size: int = 32
    protocol: str = "paper"
    draw: int = 0

    name = "language"
    ops = COMBINE
    models: ClassVar[tuple[str, ...]] = ("linear", "nac", "nalu", "nau", "nmu", "realnpu", "inalu")
    stack_recipe = "published"
    compiles_tests = False
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 10, "paper": 10}
    tests: tuple[str, ...] = (Split.TEST, SEEN)
    measures: tuple[Measure, ...] = (MeanAbsoluteError(), MeanSquaredError())
    loss: Loss = MAE()

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_choice("protocol", self.protocol, ("paper", "quick"))
        if self.size not in SIZES:
            raise ArgumentError("size", f"one of {', '.join(map(str, SIZES))}", repr(self.size))

    @property
    def recipe_op(self) -> None:
        """Any: a unit may compute what it likes with the states."""
        return None

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """What the unit sees."""
        return self.size

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A sentence of one-hot vectors."""
        return (LONGEST, len(VOCABULARY))

    @property
    def draws(self) -> int:
        """One, which is not used: a batch is the whole set."""
        return 1

    @property
    def steps(self) -> int:
        """Steps of training."""
        return QUICK_STEPS if self.protocol == "quick" else STEPS

    @property
    def log_interval(self) -> int:  # type: ignore[override]
        """A hundredth of the steps."""
        return self.steps // 100

    @property
    def seconds_per_step(self) -> float:  # type: ignore[override]
        """Of one of several runs side by side, compiled."""
        return 2.5e-5 * self.size

    def network(self, unit: nn.Module) -> nn.Module:
        """Embedding, LSTM and the unit."""
        return WordReader(len(VOCABULARY), self.size, unit, combine=self.op)

    def split_numbers(self, split: str) -> tuple[int, ...]:
        """The numbers of a split."""
        return numbers_of(Split.TRAIN if split == SEEN else split, self.draw)

    def shape(self) -> Hashable:
        """All fields: sizes and sentences are part of a program."""
        return (type(self), *(getattr(self, field.name) for field in fields(self)))

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """None: all runs see the same sentences."""
        return {}

    def constants(self, split: str) -> dict[str, Tensor]:
        """The sentences of the split and what they are worth."""
        held = self.split_numbers(split)
        sentences = torch.stack([one_hot(words_of(number)) for number in held])
        return {"sentences": sentences, "values": torch.tensor(held)}

    def samples(self, split: str) -> int:
        """All numbers of the split."""
        return len(self.split_numbers(split))

    def block(self, split: str) -> int:
        """All of them at once."""
        return self.samples(split)

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """All sentences and their values, the same for every model."""
        same = torch.zeros_like(u[:, :1, :1])
        sentences, values = (numbers[name].to(u.dtype) for name in ("sentences", "values"))
        return same[..., None] + sentences, same + values[:, None]

    def identity(self) -> dict[str, Any]:
        """The fields that are not defaults."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {**own, "name": self.name, "op": self.op}

    def labels(self) -> dict[str, str | int]:
        """How states are combined, and the other fields that are not defaults."""
        own = self.identity()
        return {name: own[name] for name in ("op", "size", "protocol", "draw") if name in own}

    def about(self) -> dict[str, Any]:
        """Labels and how states are combined: there are no ranges."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run."""
        return cls(**{f.name: identity[f.name] for f in fields(cls) if f.name in identity})

    @classmethod
    def variants(cls) -> list[Task]:
        """Summed results, summed states, the last state."""
        return [cls(op) for op in cls.ops]

    def reduced(self) -> Self:
        """The task with the reduced protocol."""
        return replace(self, protocol="quick")

    def adapt(self, recipe: Recipe) -> Recipe:
        """Adam on the whole training set."""
        if isinstance(recipe.optimiser, LevenbergMarquardt):
            expected = f"one that trains step by step: the networks of {self.name} are too large to be solved"
            raise ArgumentError("recipe", expected, "second-order")
        return replace(
            recipe,
            optimiser=self._optimiser(),
            iterations=self.steps,
            batch_size=self.samples(Split.TRAIN),
            penalties=tuple(
                replace(each, schedule=Ramp(0.5 * self.steps, 0.75 * self.steps))
                if isinstance(each, (UnitPenalty, Discretise))
                else each
                for each in recipe.penalties
            ),
        )

    def with_rate(self, recipe: Recipe, rate: float) -> Recipe:
        """The same recipe with another learning rate."""
        return replace(recipe, optimiser=self._optimiser(rate))

    def _optimiser(self, rate: float = RATES[0]) -> Optimiser:
        """Adam; in the reduced protocol its rate falls to zero in the second half."""
        if self.protocol == "paper":
            return Adam(rate)
        return Falling(Adam(rate), 0.5 * self.steps, float(self.steps))
