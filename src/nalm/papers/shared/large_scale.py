"""The "large scale arithmetic" task of three papers: sums of two subsets of 100 inputs, then an operation.

For Heim et al. 2020, table 2, and the set-ups that the thesis compares in its table 3.1. They differ in the
subsets, ranges, hidden size, steps and optimiser.

Sobol numbers: a batch is the first 128 points of the sequence, moved by a digital shift (exclusive or) that
is drawn again in every step. Later blocks of the sequence are also the first block moved by such a shift.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.errors import check_choice
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import ArithmeticDataset, RangeTask, Split
from nalm.tasks._base import Numbers
from nalm.tasks.known_ranges import parse_pair
from nalm.tasks.sampling import Aside, sample
from nalm.units._functional import weighted_sum

BLOCK = 128
"""Points of the Sobol sequence in a batch."""
_CELLS = 2**23
SUBSETS = ("madsen", "heim", "schloer")


@dataclass(frozen=True)
class Sums(RangeTask):
    """a op b, where a and b are the sums of two subsets of the inputs; 1 / a and sqrt(a) use a alone.

    Args:
        op: add, mul, div, recip or sqrt.
        range: `train=>test` such as `-1:1=>-2:2`.
        subsets: whose subsets: "madsen" (25 each, neighbours, overlapping by 12, drawn by seed), "heim" (the
            inputs 1 to 50 and 39 to 88) or "schloer" (33 each, drawn by seed, without overlap).
        sobol: whether inputs are Sobol numbers.
        inputs: number of inputs.
    """

    op: str
    range: str
    subsets: str = "heim"
    sobol: bool = False
    inputs: int = 100

    name = "sums"
    ops = ("add", "mul", "div", "recip", "sqrt")

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)
        check_choice("subsets", self.subsets, SUBSETS)
        parse_pair(self.range)

    def shape(self) -> Hashable:
        """Also whether inputs are Sobol numbers."""
        return (super().shape(), self.sobol)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """Operation, subsets and range."""
        return {
            "op": self.ops.index(self.op),
            "subsets": self.chosen(seed).tolist(),
            **super().numbers(seed, split),
        }

    def constants(self, split: str) -> dict[str, Tensor]:
        """The first points of the Sobol sequence."""
        return {"points": _points(self.inputs)} if self.sobol else {}

    def samples(self, split: str) -> int:
        """Size of the fixed sets."""
        return 80 * BLOCK

    def block(self, split: str) -> int:
        """The number of points in a batch."""
        return BLOCK

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        drawn = _shifted(numbers["points"], u) if self.sobol else u
        x = self.draw(drawn, numbers).mT
        sums = weighted_sum(x, numbers["subsets"].to(x.dtype)).mT
        return x, operate(numbers["op"], sums[:, 0], sums[:, 1])[..., None]

    def chosen(self, seed: int) -> np.ndarray:
        """The two subsets of a seed, as rows of zeros and ones: `2 x inputs`."""
        if self.subsets == "madsen":
            return ArithmeticDataset("mul", inputs=self.inputs).subsets(seed)
        rows = np.zeros((2, self.inputs))
        if self.subsets == "heim":
            rows[0, :50] = rows[1, 38:88] = 1
            return rows
        stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 0)
        order = uniform(stream, counters(self.inputs))[0].argsort().numpy()
        size = self.inputs // 3
        rows[0, order[:size]] = rows[1, order[size : 2 * size]] = 1
        return rows

    def identity(self) -> dict[str, Any]:
        """Also the subsets, and whether inputs are Sobol numbers."""
        return {**super().identity(), "subsets": self.subsets, "sobol": self.sobol}

    def labels(self) -> dict[str, str | int]:
        """Also whose subsets they are."""
        return {**super().labels(), "subsets": self.subsets}

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """Error, on 20,000 samples, of first weights 1 - epsilon for chosen inputs and epsilon for others."""
        return _near_error(self, split, epsilon)


def operate(code: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The operation of each run: code `models`, a and b `models x n`."""
    results = (a + b, a * b, a / b, 1 / a, a.sqrt())
    chosen = results[-1]
    for k, result in enumerate(results[:-1]):
        chosen = torch.where(code[:, None] == k, result, chosen)
    return chosen


@functools.cache
def _points(inputs: int) -> Tensor:
    """The first block of the Sobol sequence as whole numbers, `inputs x block`."""
    points = torch.quasirandom.SobolEngine(inputs).draw(BLOCK, dtype=torch.float64)
    return (points.mT * _CELLS).to(torch.int32).contiguous()


def _shifted(points: Tensor, u: Tensor) -> Tensor:
    """The points moved by a digital shift made from the first sample of u, `models x inputs x n`."""
    shift = (u[..., :1] * _CELLS).to(torch.int32)
    return ((points ^ shift).to(u.dtype) + 0.5) / _CELLS


@functools.cache
def _near_error(task: Sums, split: str, epsilon: float) -> float:
    drawn, _ = sample(replace(task, sobol=False), 0, split, 20_000, aside=Aside.STATISTICS)
    x, exact = drawn.mT.contiguous(), torch.tensor(task.chosen(0))
    near = exact * (1 - 2 * epsilon) + epsilon
    code = torch.tensor([task.ops.index(task.op)])
    ideal, off = (operate(code, *(weight @ x).split(1)) for weight in (exact, near))
    return float((ideal - off).square().mean())
