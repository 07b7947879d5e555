"""What every trainer takes and returns: options, progress reports, raw curves and weights."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nalm.models.many import Parameters
from nalm.recipes import Recipe
from nalm.tasks import Split, Task


class StepsDone(NamedTuple):
    """Progress, for a callback, in run-steps. A run-step is one step of one run."""

    done: int
    total: int
    seconds: float


OnSteps = Callable[[StepsDone], None]


class Logged(NamedTuple):
    """Some runs of a group at an evaluation, for a callback.

    Attributes:
        first: the index of the first of these runs in the group.
        step: the step at which they were evaluated.
        validation: their decisive errors on the validation set, shape `runs`.
        test: the same on the first test set.
        parameters: their parameters, `runs x ...` by name; copy them to keep them, because training goes on.
    """

    first: int
    step: int
    validation: Tensor
    test: Tensor
    parameters: Parameters


OnLogged = Callable[[Logged], None]


@dataclass(frozen=True)
class RunGroup:
    """Runs of one architecture that a trainer trains together.

    Attributes:
        model: the architecture.
        tasks: one per run, all of the same shape.
        recipes: one per run, all of the same shape.
        seeds: one per run.
        initial: parameters `runs x ...` to start from instead of drawing them by seed.
        names: one per run, by which its checkpoint is found; by default its seed.
    """

    model: nn.Module
    tasks: Sequence[Task]
    recipes: Sequence[Recipe]
    seeds: Sequence[int]
    initial: Parameters | None = None
    names: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.seeds)

    def some(self, part: slice) -> RunGroup:
        """The runs of this slice."""
        initial = None if self.initial is None else {name: p[part] for name, p in self.initial.items()}
        listed = {name: getattr(self, name)[part] for name in ("tasks", "recipes", "seeds", "names")}
        return replace(self, initial=initial, **listed)


@dataclass(frozen=True)
class Options:
    """The options of a trainer; a trainer ignores those it has no use for.

    Attributes:
        iterations: number of steps.
        log_interval: steps between evaluations.
        dtype: the precision, float32 or float64.
        device: where to train.
        compiled: whether to compile the step; otherwise it runs eagerly.
        on_progress: called after each evaluation.
        on_logged: called with the errors and parameters at each evaluation.
        checkpoints: a folder for checkpoints of unfinished runs, or None to keep none.
    """

    iterations: int
    log_interval: int
    dtype: torch.dtype
    device: torch.device
    compiled: bool
    on_progress: OnSteps | None = None
    on_logged: OnLogged | None = None
    checkpoints: Path | None = None

    def tell(self, first: int, step: int, validation: Tensor, test: Tensor, parameters: Parameters) -> None:
        """Call `on_logged`, if there is one, with what a `Logged` holds."""
        if self.on_logged is not None:
            self.on_logged(Logged(first, step, validation, test, parameters))


@dataclass(frozen=True)
class Trained:
    """The runs of one call, in the order of their seeds.

    Attributes:
        model: the architecture; after `nalm.train` it holds the chosen weights of the best run.
        tasks: the task of each run.
        seeds: the seed of each run.
        steps: the logged steps, shape `logs`.
        validation: the task's decisive error on the validation set, by default the mean squared error, shape
            `runs x logs`, float64.
        test: the same error on the first test set.
        chosen: index into `steps` of the lowest validation error, shape `runs`; in second-order training the
            last index, which holds the solution that was chosen on fresh rows.
        chosen_parameters: the parameters at the chosen step, `runs x ...` by name.
        final_parameters: the parameters after the last step, `runs x ...` by name.
        history_steps: the logged steps at which parameters were kept, at most 64, shape `points`; none for
            models with more parameters than `Models.followed_names` follows.
        history: the parameters at those steps, `runs x points x ...` by name; empty if none were kept.
        diverged_at: first logged step with a number that is not finite, or -1, shape `runs`.
        reinitialised: how often each run was given new weights, shape `runs`.
        compiled: whether the program was compiled.
        seconds: how long training took, including compilation.
        costs: in second-order training, what each run found and cost, one dictionary per run (see
            `nalm.second_order.solution.Cost`); None otherwise.
        errors: further errors and test sets, by `split/name`, each of shape `runs x logs`.
    """

    model: nn.Module
    tasks: Sequence[Task]
    seeds: Sequence[int]
    steps: Tensor
    validation: Tensor
    test: Tensor
    chosen: Tensor
    chosen_parameters: dict[str, Tensor]
    final_parameters: dict[str, Tensor]
    history_steps: Tensor
    history: dict[str, Tensor]
    diverged_at: Tensor
    reinitialised: Tensor
    compiled: bool
    seconds: float
    costs: list[dict[str, Any]] | None = None
    errors: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def best(self) -> int:
        """The run with the lowest validation error at its chosen step."""
        errors = self.chosen_error(Split.VALIDATION)
        return int(torch.where(errors.isfinite(), errors, torch.inf).argmin())

    def chosen_error(self, split: Split = Split.TEST) -> Tensor:
        """The error at the chosen step, shape `runs`."""
        curve = self.test if split == Split.TEST else self.validation
        return curve.gather(1, self.chosen[:, None])[:, 0]

    def model_of(self, run: int) -> nn.Module:
        """A copy of the model with the chosen weights of this run."""
        made = copy.deepcopy(self.model)
        made.load_state_dict({name: p[run] for name, p in self.chosen_parameters.items()}, strict=False)
        return made
