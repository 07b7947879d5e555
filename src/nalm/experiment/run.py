"""Cases and runs: everything that determines the numbers of a run, and nothing else."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from nalm._version import NUMERICS_VERSION
from nalm.errors import ArgumentError
from nalm.experiment.naming import FORMAT, identity_text, name_of
from nalm.models import Model, ModelSpec
from nalm.models.many import Parameters, with_initialisers
from nalm.recipes import Recipe
from nalm.recipes.plain import to_plain
from nalm.recipes.steps import Timing, timing_of, with_steps
from nalm.tasks import Task
from nalm.tasks.registry import source_of
from nalm.training.published import published_recipe
from nalm.training.trainers import trainer_of


@dataclass(frozen=True)
class Case:
    """A model on a task: one row of a benchmark.

    Attributes:
        model: the model, such as that of the text `realnpu@modified`.
        task: the task, with its operation, range and the like.
        iterations: the number of steps; None for that of the recipe.
        other_recipe: a recipe instead of the one that the model names.
        hidden: the number of values between the units of a stack.
        schedule: whether fewer steps than the recipe's shorten its schedules ("scaled") or cut them off
            ("published").
    """

    model: Model
    task: Task
    iterations: int | None = None
    other_recipe: Recipe | None = None
    hidden: int = 2
    schedule: str = "published"

    @functools.cached_property
    def recipe(self) -> Recipe:
        """The recipe, with `iterations` steps."""
        made = self.other_recipe or self.named_recipe
        return made if self.iterations is None else with_steps(made, self.iterations, self.schedule)

    @property
    def timing(self) -> Timing:
        """How its schedules differ from those of the recipe that the model names."""
        return timing_of(self.recipe, self.named_recipe)

    @property
    def named_recipe(self) -> Recipe:
        """The recipe that the model names, adapted to the task; for a given network `other_recipe`."""
        if isinstance(self.model, ModelSpec):
            return published_recipe(self.model, self.task)
        return self.other_recipe or Recipe()

    def build(self, batch_shape: Sequence[int] = ()) -> nn.Module:
        """The task's network with the model in it."""
        built = self.model.build(*self.task.unit_features, hidden=self.hidden, batch_shape=batch_shape)
        return self.task.network(built)

    def initial(self, seeds: Sequence[int]) -> Parameters | None:
        """Initial parameters `seeds x ...`; None if the engine draws them by the units' initialisers."""
        drawn = self.model.initial(self.build, seeds)
        if drawn is None or not self.recipe.initialise:
            return drawn
        return with_initialisers(self.build(), drawn, seeds, self.recipe.initialise)

    @functools.cached_property
    def identity(self) -> dict[str, Any]:
        """Everything but the seed that determines the numbers of its runs, as plain data."""
        return make_identity(self.task, self.model.identity(), self.recipe, self.hidden)

    @functools.cached_property
    def text(self) -> str:
        """The identity as text; equal identities have equal texts."""
        return identity_text(self.identity)


def make_identity(
    task: Task, layers: list[dict[str, Any]], recipe: Recipe, hidden: int = 2
) -> dict[str, Any]:
    """Everything but the seed that determines the numbers of a run."""
    source = source_of(task)
    return {
        "format": FORMAT,
        "task": task.identity() if source is None else {**task.identity(), "source": source},
        # Defaults are left out, so that options added later rename no run.
        **({} if hidden == 2 else {"hidden": hidden}),
        "layers": layers,
        "recipe": to_plain(recipe),
        "log_interval": task.log_interval,
        "precision": str(trainer_of(recipe).precision_of(task)).removeprefix("torch."),
        "numerics_version": NUMERICS_VERSION,
    }


def knows_ideal_weights(case: Case) -> bool:
    """Whether the weights that solve its task are known: only a single unit may know them."""
    if not case.model.is_single_unit:
        return False
    try:
        case.task.ideal_(case.build(), 0)
    except ArgumentError:
        return False
    except (AttributeError, NotImplementedError):
        if not case.model.is_users:
            raise  # only a user's own unit may leave `ideal_` out
        return False
    return True


@dataclass(frozen=True, slots=True)
class Run:
    """One seed of a case."""

    case: Case
    seed: int

    @property
    def id(self) -> str:
        """The name of the run: equal names mean equal numbers."""
        return name_of(self.case.text, self.seed)
