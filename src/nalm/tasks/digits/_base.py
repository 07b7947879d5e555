"""What tasks on digits share: data that are loaded on first use, the ordinary loop, one set of recipes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from torch import Tensor

from nalm.data import checksum_of, load_digits
from nalm.errors import ArgumentError, check_choice
from nalm.models.digit_readers import READERS
from nalm.recipes import (
    L1,
    Adam,
    Discretise,
    Falling,
    LevenbergMarquardt,
    Loss,
    Optimiser,
    Penalty,
    Ramp,
    Recipe,
    StepState,
    UnitPenalty,
)
from nalm.tasks._base import Numbers, Predict, Task

QUICK_WINDOW = (0.5, 0.75)
"""When penalties grow in the reduced protocol, as parts of its steps.

The papers' windows begin after 23 and 30 of 1000 epochs, when digits have long been read. A few epochs cut in
the same proportion would make weights discrete before anything is read.
"""
QUICK_LOGS = 8
"""The least number of evaluations of the reduced protocol."""


@dataclass(frozen=True)
class DigitTask(Task):
    """Base of tasks on digits. Data are loaded when the first batch is drawn.

    Attributes:
        op: the operation.
        digits: the data set, see `nalm.data.load_digits`.
        protocol: "paper" for that of the paper, which takes hours per run, or "quick" for a reduced one.
    """

    op: str = "mul"
    digits: str = "mnist"
    protocol: str = "paper"

    stack_recipe = "published"
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 3, "paper": 10}
    learning_rate: ClassVar[float] = 1e-3
    quick_learning_rate: ClassVar[float] = 1e-3
    batch_size: ClassVar[int] = 64
    quick_batch_size: ClassVar[int] = 64
    epochs: ClassVar[int] = 1000
    quick_steps: ClassVar[int]
    results: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_choice("protocol", self.protocol, ("paper", "quick"))
        if hasattr(self, "reader"):
            check_choice("reader", self.reader, READERS)
        checksum_of(self.digits)  # refuses an unknown name

    def check_few(self, name: str, images: int | None, digits: int) -> None:
        """Refuse a number of images per batch, or per batch and digit, that no batch has places for."""
        if images is None:
            return
        most = (self.quick_batch_size if self.is_quick else self.batch_size) // digits
        if isinstance(images, bool) or not isinstance(images, int) or not 1 <= images <= most:
            raise ArgumentError(name, f"None, or a whole number from 1 to {most}", repr(images))

    def prepare(self) -> None:
        """Read the images."""
        load_digits(self.digits)

    def shape(self) -> Hashable:
        """All fields: runs train one after the other."""
        return (type(self), *(getattr(self, field.name) for field in fields(self)))

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """None: all runs see the same images."""
        return {}

    def identity(self) -> dict[str, Any]:
        """The fields that are not defaults, and the data by their checksum."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {**own, "name": self.name, "op": self.op, "digits": checksum_of(self.digits)}

    def labels(self) -> dict[str, str | int]:
        """The operation, and what is not usual: a reduced protocol, another data set, another reader."""
        unusual = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        told = {name: own for name, own in unusual.items() if name in ("protocol", "digits", "reader")}
        return {"op": self.op, **told}

    @property
    def input_names(self) -> list[str]:
        """What the unit takes: two digits, if the task does not say otherwise."""
        return ["first", "second"]

    def about(self) -> dict[str, Any]:
        """Labels and operation: there are no ranges."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Task:
        """The task of a stored run; its data set is the one of that checksum."""
        known = {f.name for f in fields(cls)} - {"digits"}
        held = {name: value for name, value in identity.items() if name in known}
        return cls(**held, digits=labels.get("digits", "mnist"))

    @classmethod
    def variants(cls) -> list[Task]:
        """One for each operation."""
        return [cls(op) for op in cls.ops]

    def epoch(self) -> int:
        """Steps in which about as many images are drawn as there are."""
        raise NotImplementedError

    @property
    def is_quick(self) -> bool:
        """Whether the protocol is reduced."""
        return self.protocol == "quick"

    @property
    def steps(self) -> int:
        """Steps of training."""
        return self.quick_steps if self.is_quick else self.epochs * self.epoch()

    @property
    def log_interval(self) -> int:  # type: ignore[override]
        """An epoch, or a part of the reduced protocol."""
        return min(self.epoch(), max(1, self.steps // QUICK_LOGS)) if self.is_quick else self.epoch()

    def reduced(self) -> Self:
        """The task with the reduced protocol."""
        return replace(self, protocol="quick")

    def objective(self, predict: Predict, u: Tensor, numbers: Numbers, loss: Loss, now: StepState) -> Tensor:
        """The loss of the results alone: readings are never compared with digits in training."""
        x, y = self.batch(u, numbers)
        return loss(self.trained_part(predict(x)), self.trained_part(y), now)

    def trained_part(self, outputs: Tensor) -> Tensor:
        """The part of outputs or targets that is trained on, `models x n x values`."""
        return outputs[..., : self.results]

    def adapt(self, recipe: Recipe) -> Recipe:
        """The papers' set-up: Adam, the task's batch and epochs, its penalty; a loop with checkpoints."""
        if isinstance(recipe.optimiser, LevenbergMarquardt):
            expected = f"one that trains step by step: the networks of {self.name} are too large to be solved"
            raise ArgumentError("recipe", expected, "second-order")
        return replace(
            recipe,
            optimiser=self._optimiser(),
            batch_size=self.quick_batch_size if self.is_quick else self.batch_size,
            iterations=self.steps,
            penalties=tuple(self.adapt_penalty(each) for each in recipe.penalties),
            by="loop",
        )

    def _optimiser(self) -> Optimiser:
        """Adam; in the reduced protocol its rate falls to zero in the second half."""
        if not self.is_quick:
            return Adam(self.learning_rate)
        return Falling(Adam(self.quick_learning_rate), 0.5 * self.steps, float(self.steps))

    def adapt_penalty(self, penalty: Penalty) -> Penalty:
        """A unit's penalty with the strength and the window of the task; others act on units alone."""
        if isinstance(penalty, (UnitPenalty, Discretise)):
            window = Ramp(*(share * self.steps for share in QUICK_WINDOW)) if self.is_quick else self.window()
            return replace(penalty, strength=self.penalty_strength(), schedule=window)
        return replace(penalty, of="units") if isinstance(penalty, L1) else penalty

    def penalty_strength(self) -> float:
        """Strength of the units' penalties."""
        raise NotImplementedError

    def window(self) -> Ramp:
        """The steps in which the units' penalties grow, in the paper's protocol."""
        raise NotImplementedError
