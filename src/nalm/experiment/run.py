"""A run: everything that determines its numbers, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from nalm._version import NUMERICS_VERSION
from nalm.compose import ModelSpec
from nalm.tasks import SingleModule
from nalm.training.recipe import Recipe

LOG_INTERVAL = 1000


@dataclass(frozen=True)
class Run:
    """One seed of one model on one task.

    Attributes:
        model: the model as it is written on the command line, such as `realnpu@modified`.
        op: the operation.
        range: the training range, or `train=>test`.
        inputs: number of inputs.
        seed: the seed.
        iterations: steps; None for those of the recipe.
    """

    model: ModelSpec
    op: str
    range: str
    inputs: int
    seed: int
    iterations: int | None = None

    @property
    def task(self) -> SingleModule:
        """The task."""
        return SingleModule(self.op, self.range, inputs=self.inputs)

    @property
    def recipe(self) -> Recipe:
        """The recipe, with the steps asked for."""
        made = self.model.make_recipe(self.op, self.inputs)
        return made if self.iterations is None else replace(made, iterations=self.iterations)

    def identity(self) -> dict[str, Any]:
        """What determines the numbers of the run, as plain data."""
        task = self.task
        return {
            "task": task.name,
            "units": [unit.name for unit in self.model.units],
            "options": [dict(options) for options in self.model.options],
            "recipe": repr(self.recipe),
            "op": self.op,
            "train_range": task.train_range.segments,
            "test_range": task.test_range.segments,
            "inputs": self.inputs,
            "seed": self.seed,
            "log_interval": LOG_INTERVAL,
            "precision": "float32",
            "numerics_version": NUMERICS_VERSION,
        }

    @property
    def id(self) -> str:
        """A name for the run that is the same wherever its numbers are."""
        text = json.dumps(self.identity(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]
