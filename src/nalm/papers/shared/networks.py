"""What programs share: how much of a protocol is run, data of a task, and numbers as findings."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nalm.evaluate.intervals import Interval, median_interval, success_interval
from nalm.models.many import Parameters
from nalm.papers.agreement import Finding
from nalm.papers.scale import Scale
from nalm.recipes.initialisers import Constant, Initialiser
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import Task
from nalm.tasks._base import Split
from nalm.training.result import TrainResult


@dataclass(frozen=True)
class Protocol:
    """The protocol of a program at a scale.

    Attributes:
        full_seeds: how many seeds the paper has.
        scale: how much to do.
        quick_seeds: how many seeds the quick protocol has.
        quick_steps: by what factor the quick protocol trains less.
    """

    full_seeds: int
    scale: Scale
    quick_seeds: int = 5
    quick_steps: float = 1.0

    @property
    def seeds(self) -> list[int]:
        """The seeds to run."""
        quick = min(self.full_seeds, self.quick_seeds) if self.scale.quick else self.full_seeds
        return list(range(self.scale.seeds or quick))

    @property
    def factor(self) -> float:
        """Part of the paper's steps."""
        return self.scale.steps or (self.quick_steps if self.scale.quick else 1.0)

    def steps(self, full: int) -> int:
        """So many of the paper's steps, one at least."""
        return max(1, round(full * self.factor))

    def has(self, row: str) -> bool:
        """Whether a row is asked for."""
        return self.scale.rows is None or row in self.scale.rows

    def reduced(self) -> list[str]:
        """In which way this is less than the paper's protocol."""
        said = []
        if len(self.seeds) < self.full_seeds:
            said.append(f"seeds: {len(self.seeds)} instead of {self.full_seeds}")
        if self.factor < 1:
            said.append(f"steps: {self.factor:.2g} of the paper's, schedules shortened with them")
        return said


def sample(task: Task, size: int, split: Split = Split.TRAIN, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs `size x in` and targets `size x out` of a split, apart from those that are trained on."""
    stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 1)
    numbers = {k: torch.tensor([v], dtype=torch.float32) for k, v in task.numbers(seed, split).items()}
    x, y = task.batch(uniform(stream, counters(task.draws, size)), {**numbers, **task.constants(split)})
    return x[0], y[0]


def drawn_by(model: nn.Module, schemes: Mapping[str, Initialiser], seeds: Sequence[int]) -> Parameters:
    """Parameters `seeds x ...` of any module, each seed's from its own stream; 0 where there is no scheme."""
    parameters, held = {}, torch.tensor(seeds, dtype=torch.int32)
    for part, (name, p) in enumerate(model.named_parameters()):
        u = uniform(key(held, Purpose.INIT, 0, part), counters(*p.shape))
        parameters[name] = schemes.get(name, Constant(0.0))(u)
    return parameters


def final_model(result: TrainResult, run: int) -> nn.Module:
    """A copy of the model with the weights of a run after the last step."""
    made = copy.deepcopy(result.model)
    made.load_state_dict({name: p[run] for name, p in result.final_parameters.items()}, strict=False)
    return made


def share(solved: Sequence[bool]) -> Finding:
    """The share of runs with Wilson's interval."""
    return _finding(success_interval(sum(solved), len(solved)), len(solved))


def median(values: Sequence[float]) -> Finding:
    """The median with the interval that holds it whatever the distribution."""
    return _finding(median_interval(values), len(values))


def median_deviation(values: Sequence[float]) -> Finding:
    """The median plus and minus the median absolute deviation, which is how Heim et al. 2020 report."""
    x = np.nan_to_num(np.asarray(values, dtype=float), nan=np.inf, posinf=np.inf)
    middle = float(np.median(x))
    with np.errstate(invalid="ignore"):  # infinite less infinite is no number, and is reported as none
        spread = float(np.median(np.abs(x - middle)))
    return _finding(Interval(middle, middle - spread, middle + spread), len(x))


def _finding(found: Interval, n: int) -> Finding:
    return Finding(_finite(found.value), _finite(found.low), _finite(found.high), n)


def _finite(value: float | None) -> float | None:
    """The number; none where it is infinite or no number."""
    return value if value is not None and math.isfinite(value) else None
