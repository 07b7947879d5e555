"""Training loops of papers as trainers, so that their runs are stored like all others.

Such a loop trains many models side by side without compiling. The last numbers of a row do not fill a vector
register and are rounded differently from those before them, so that a model's result depends on its position.
A block of seeds is therefore always trained as a whole, in the same order, and only the wanted runs are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from nalm.models.many import Parameters
from nalm.recipes import Optimiser, Recipe
from nalm.tasks import Task
from nalm.threads import one_thread
from nalm.trained import Options, RunGroup, StepsDone, Trained
from nalm.training.trainers import Trainer

OnStep = Callable[[int], None]
"""Called with the number of steps done."""


class OwnOptimiser(Optimiser):
    """Base class of optimisers that only name a paper's training loop, which takes the steps itself."""


@dataclass(frozen=True)
class Ended:
    """Models after their last step.

    Attributes:
        parameters: `models x ...` by name.
        validation: the decisive error on the validation set, `models`.
        test: the same on the test set.
        further: further errors by `split/name`, each `models`.
        compiled: whether the program was compiled.
    """

    parameters: Parameters
    validation: Tensor
    test: Tensor
    further: dict[str, Tensor] = field(default_factory=dict)
    compiled: bool = False


class BlockTrainer(Trainer):
    """Base class of papers' training loops. They draw initial parameters themselves, for whole blocks."""

    block: ClassVar[int]
    """Seeds that are always trained together."""
    SECONDS_PER_STEP: ClassVar[float]
    """Seconds per step of one run, trained with the others of its block."""

    def train_block(self, runs: RunGroup, seeds: range, options: Options, on_step: OnStep) -> Ended:
        """Train the models of all tasks for these seeds."""
        raise NotImplementedError

    def place(self, task: Task, seed: int) -> int:
        """The position in its block of the model for a task and a seed, counted from the block's first."""
        raise NotImplementedError

    def train(self, runs: RunGroup, options: Options) -> Trained:
        """Train every block that contains one of the runs."""
        began, total = time.perf_counter(), len(runs) * options.iterations
        blocks = sorted({seed // self.block for seed in runs.seeds})
        parts: list[Ended] = []

        def on_step(step: int) -> None:
            if options.on_progress is not None:
                part = (len(parts) + step / options.iterations) / len(blocks)
                options.on_progress(StepsDone(int(part * total), total, time.perf_counter() - began))

        for block in blocks:
            seeds = range(block * self.block, (block + 1) * self.block)
            # Training needs gradients, even if the caller has switched them off.
            with torch.inference_mode(False), torch.enable_grad(), one_thread():
                parts.append(self.train_block(runs, seeds, options, on_step))
        on_step(0)
        places = [
            (blocks.index(seed // self.block), self.place(task, seed % self.block))
            for task, seed in zip(runs.tasks, runs.seeds)
        ]
        return last_step(runs, options, _chosen(parts, places), time.perf_counter() - began)

    def seconds(self, runs: int, recipe: Recipe, inputs: int) -> float:
        """Roughly how long these runs take on one core."""
        return runs * recipe.work * self.SECONDS_PER_STEP


def _chosen(parts: list[Ended], places: list[tuple[int, int]]) -> Ended:
    """The models at these places, each given as the index of a part and an index within it."""

    def pick(held: list[Tensor]) -> Tensor:
        return torch.stack([held[part][place] for part, place in places])

    def pick_all(held: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        return {name: pick([each[name] for each in held]) for name in held[0]}

    return Ended(
        pick_all([part.parameters for part in parts]),
        pick([part.validation for part in parts]),
        pick([part.test for part in parts]),
        pick_all([part.further for part in parts]),
        parts[0].compiled,
    )


def last_step(runs: RunGroup, options: Options, found: Ended, seconds: float) -> Trained:
    """The record of runs of which only the last step was logged."""
    count, last = len(runs), torch.tensor([options.iterations])
    finite = found.validation.isfinite()
    for p in found.parameters.values():
        finite = finite & p.isfinite().reshape(count, -1).all(-1)
    return Trained(
        model=runs.model,
        tasks=list(runs.tasks),
        seeds=list(runs.seeds),
        steps=last,
        validation=found.validation.double()[:, None],
        test=found.test.double()[:, None],
        chosen=torch.zeros(count, dtype=torch.long),
        chosen_parameters=found.parameters,
        final_parameters=found.parameters,
        history_steps=last[:0],
        history={},
        diverged_at=torch.where(finite, -1, options.iterations),
        reinitialised=torch.zeros(count, dtype=torch.long),
        compiled=found.compiled,
        seconds=seconds,
        errors={name: error.double()[:, None] for name, error in found.further.items()},
    )
