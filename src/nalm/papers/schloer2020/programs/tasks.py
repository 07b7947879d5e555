"""The tasks of the iNALU's authors (Schlör, Ring, Hotho 2020, experiments 1 to 5): inputs and targets.

Experiments are numbered as in the paper, and as the thesis counts them (section 3.1 and appendix D.1). The
authors' public program has no experiment 2, and calls experiments 3, 4 and 5 its second, third and fourth.

Every run has three sets of 64,000 samples: for training, for interpolation from the same distribution, and
for extrapolation from another one. The four operations are learned from the same inputs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.papers.schloer2020.programs.training import BEST, Data, EpochPlan, Start
from nalm.streams import Purpose, counters, key, standard_normal, uniform

FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
}
_FIRST_SEED = 100
"""The authors number their seeds from 100."""


@dataclass(frozen=True)
class InputDistribution:
    """The distribution of inputs.

    Attributes:
        family: `normal` (truncated at its ends, three standard deviations away), `uniform` or `exponential`.
        train: both ends, or the scale of the exponential distribution; also for interpolation.
        test: the same for extrapolation.
    """

    family: str
    train: tuple[float, ...]
    test: tuple[float, ...]

    @property
    def label(self) -> str:
        """As the authors' tables write it, such as `normal (-3, 3)->(8, 10)`."""
        return f"{self.family} {_written(self.train)}->{_written(self.test)}"

    def quantile(self, u: Tensor, ends: tuple[float, ...]) -> Tensor:
        """From uniform numbers to numbers of this family."""
        if self.family == "exponential":
            return -ends[0] * torch.log(u)
        low, high = ends
        if self.family == "uniform":
            return low + (high - low) * u
        tail = 0.5 * math.erfc(3 / math.sqrt(2))
        return (low + high) / 2 + (high - low) / 6 * standard_normal(tail + (1 - 2 * tail) * u)


@dataclass(frozen=True)
class FourOperations:
    """What is to be learned: y = a op b, where a and b are two inputs, or the sums of two subsets of many.

    Attributes:
        sizes: sizes of the layers, the number of inputs first.
        distributions: distributions of the inputs.
        starts: where the variables start; every operation is learned from each of them.
    """

    sizes: tuple[int, ...]
    distributions: tuple[InputDistribution, ...]
    starts: tuple[Start, ...] = (BEST,)

    def datasets(self, seeds: int) -> list[tuple[int, int]]:
        """All pairs of the index of a distribution and one of `seeds` seeds."""
        return [(place, seed) for place in range(len(self.distributions)) for seed in range(seeds)]

    def data(self, purpose: Purpose, datasets: Sequence[tuple[int, int]], plan: EpochPlan) -> Data:
        """The samples of datasets (index of the distribution, seed), with one target per operation."""
        batches, n_in = plan.steps, self.sizes[0]
        places, seeds = torch.tensor(datasets, dtype=torch.int32).unbind(-1)
        place, seed = places.contiguous(), _FIRST_SEED + seeds
        elements = counters(batches, n_in, plan.batch)
        x = torch.empty(batches, len(seed), 1, n_in, plan.batch)
        y = torch.empty(batches, len(seed), len(FUNCTIONS), plan.batch)
        for k in range(len(seed)):
            found = self.distributions[int(place[k])]
            ends = found.test if purpose is Purpose.TEST else found.train
            stream = key(seed[k : k + 1], purpose, place[k : k + 1])
            x[:, k, 0] = found.quantile(uniform(stream, elements)[0], ends)
            for task, operate in enumerate(FUNCTIONS.values()):
                a, b = self.terms(seed[k : k + 1], place[k : k + 1], task)
                # Targets are exact to single precision, as the authors' are: sums are computed in double.
                inputs = x[:, k, 0].double()
                y[:, k, task] = operate(_total(a, inputs), _total(b, inputs))
        return Data(x, y, seed, place)

    def terms(self, seed: Tensor, place: Tensor, task: int) -> tuple[Tensor, Tensor]:
        """Which inputs are in a and in b.

        A single layer learns from its first two inputs. Before two layers, half of the inputs are in a and a
        quarter in b, at random per run.
        """
        n_in = self.sizes[0]
        if len(self.sizes) == 2:
            places = torch.arange(n_in)
            return (places == 0).float(), (places == 1).float()
        u = uniform(key(seed, Purpose.TASK, place, task), counters(n_in))[0]
        return (u < 0.5).float(), (u > 0.75).float()


def _total(chosen: Tensor, inputs: Tensor) -> Tensor:
    """The sum of the chosen inputs: from `batches x in x samples` to `batches x samples`."""
    return torch.matmul(chosen.double(), inputs)


def _written(ends: tuple[float, ...]) -> str:
    numbers = [f"{end:g}" for end in ends]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"


MINIMAL = FourOperations(
    (2, 1),
    (
        *(InputDistribution("normal", ends, (8, 10)) for ends in ((-3, 3), (-2, 4), (-4, 2))),
        *(InputDistribution("uniform", ends, (-10, -5)) for ends in ((-1, 1), (-5, 5))),
        *(InputDistribution("exponential", (scale,), (0.5,)) for scale in (0.2, 0.8)),
    ),
)
"""Experiment 1, the minimal arithmetic task: two inputs, one layer."""

MAGNITUDES = (0.1, 1, 10, 100, 1000)

MAGNITUDE = FourOperations(
    (2, 1), tuple(InputDistribution("uniform", (0, size), (size, 2 * size)) for size in MAGNITUDES)
)
"""Experiment 2, the magnitude of the inputs: the minimal task with inputs of up to each magnitude."""

SIMPLE_ARITHMETIC = FourOperations((10, 1), MINIMAL.distributions)
"""Experiment 3, the simple arithmetic task: as experiment 1, with eight inputs that do not matter."""

SIMPLE_FUNCTION = FourOperations(
    (100, 2, 1),
    (InputDistribution("normal", (-3, 3), (3, 4)), InputDistribution("uniform", (-3, 3), (-5, -3))),
)
"""Experiment 5, the simple function task: 100 inputs, two layers."""

INITIALISATION = FourOperations(
    SIMPLE_FUNCTION.sizes,
    SIMPLE_FUNCTION.distributions[:1],
    tuple(Start(*means) for means in itertools.product((-1.0, 0.0, 1.0), repeat=3)),
)
"""Experiment 4, the influence of initialisation: the simple function task from a grid of means."""
