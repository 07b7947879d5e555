"""What training gives: raw curves and weights. Thresholds are applied afterwards, see `nalm.evaluate`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nalm.evaluate.outcome import Outcome, classify
from nalm.tasks._base import Split, Task


@dataclass(frozen=True)
class TrainResult:
    """The runs of one call, in the order of their seeds.

    Attributes:
        model: the architecture; after `nalm.train` it holds the chosen weights of the best run.
        tasks: the task of each run.
        seeds: the seed of each run.
        steps: the logged steps, shape `logs`.
        validation: mean squared error on the validation set, shape `runs x logs`, float64.
        test: mean squared error on the test set, shape `runs x logs`, float64.
        chosen: index into `steps` of the lowest validation error, shape `runs`; of second-order training, the
            last, which holds what was chosen by fresh rows.
        chosen_parameters: the parameters at the chosen step, `runs x ...` by name.
        final_parameters: the parameters after the last step, `runs x ...` by name.
        history_steps: the logged steps at which parameters were kept, at most 64, shape `points`; none for
            models of more than 512 parameters.
        history: the parameters at those steps, `runs x points x ...` by name; empty if there are none.
        diverged_at: first logged step with a number that is not finite, or -1, shape `runs`.
        reinitialised: how often each run was given new weights, shape `runs`.
        compiled: whether the program was compiled.
        seconds: how long it took, compilation included.
        costs: of second-order training, what it found and took, one dictionary a run (see
            `nalm.second_order.solution.Cost`); None otherwise.
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

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def best(self) -> int:
        """The run with the lowest validation error at its chosen step."""
        errors = self.chosen_error(Split.VALIDATION)
        return int(torch.where(errors.isfinite(), errors, torch.inf).argmin())

    def chosen_error(self, split: Split = Split.TEST) -> Tensor:
        """The error at the chosen step, shape `runs`."""
        curve = self.test if split is Split.TEST else self.validation
        return curve.gather(1, self.chosen[:, None])[:, 0]

    def model_of(self, run: int) -> nn.Module:
        """A copy of the model with the chosen weights of a run."""
        made = copy.deepcopy(self.model)
        made.load_state_dict({name: p[run] for name, p in self.chosen_parameters.items()}, strict=False)
        return made

    def outcomes(self, threshold: float | None = None) -> list[Outcome]:
        """What became of each run, by its task's own thresholds, or by the one given."""
        return classify(self, threshold)

    def success_rate(self, threshold: float | None = None) -> float:
        """The share of runs that were solved."""
        outcomes = self.outcomes(threshold)
        return sum(outcome is Outcome.SOLVED for outcome in outcomes) / len(outcomes)

    def solved_at(self, threshold: float | None = None) -> list[int | None]:
        """First logged step whose test error is below the threshold, of solved runs."""
        steps: list[int | None] = []
        for run, outcome in enumerate(self.outcomes(threshold)):
            limit = self.tasks[run].threshold() if threshold is None else threshold
            if outcome is not Outcome.SOLVED or limit is None:
                steps.append(None)
                continue
            first = int((self.test[run] < limit).nonzero()[0, 0])
            steps.append(int(self.steps[first]))
        return steps
