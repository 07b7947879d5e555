"""The arithmetic dataset: two sums over overlapping subsets of many inputs, then one operation.

Madsen & Johansen 2020, section 4.1 and appendix C.1. Two contiguous subsets of floor(subset_ratio * inputs)
inputs overlap by floor(overlap_ratio * size) inputs; where they start is drawn once per seed.

Operations: a + b, a - b, a * b, a / b, a^2, sqrt(a) (Madsen & Johansen 2020, appendix C.7), and a itself
(Trask et al. 2018, appendix B).

Deviations: algorithm 1 is misprinted; its o is read as o * s, so that k ~ U(0, 1 - 2 s + o s). Every whole
start is equally likely. The threshold is exact: 1.60e-5 for default addition, where 1.48e-5 was published for
subsets that are one input too wide.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError, check_choice
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks._base import Numbers, Split
from nalm.tasks._sampling import RangeTask, apply_operation, check_inputs
from nalm.tasks.distributions import ByInput
from nalm.tasks.known_ranges import parse_pair
from nalm.tasks.ranges import Distribution
from nalm.units._base import outer_units
from nalm.units._functional import weighted_sum

ARITHMETIC_OPERATIONS = ("add", "sub", "mul", "div", "square", "sqrt", "first")
_SIMULATED = 50_000
"""Samples for thresholds without a closed form, which are then accurate to a few thousandths."""


@dataclass(frozen=True)
class ArithmeticDataset(RangeTask):
    """(sum of one subset) op (sum of another) of `inputs` inputs.

    Args:
        op: add, sub, mul, div, square (of the first sum), sqrt (of the first sum) or first (the sum itself).
        range: name of one of the nine ranges, or `train=>test` such as `1:2=>2:6`.
        inputs: number of inputs.
        subset_ratio: size of each subset as a part of the inputs.
        overlap_ratio: size of the overlap as a part of a subset.
    """

    op: str
    range: str = "1:2"
    inputs: int = 100
    subset_ratio: float = 0.25
    overlap_ratio: float = 0.5

    name = "arithmetic-dataset"
    ops = ARITHMETIC_OPERATIONS
    models: ClassVar[tuple[str, ...]] = ("nau+nau", "nau+nmu")

    def __post_init__(self) -> None:
        check_choice("op", self.op, ARITHMETIC_OPERATIONS)
        check_inputs(self.inputs, 2)
        if any(isinstance(drawn, ByInput) for drawn in parse_pair(self.range)):
            raise ArgumentError("range", "one distribution for all inputs of this task", repr(self.range))
        if self.op == "sqrt" and any(low < 0 for d in parse_pair(self.range) for low, _ in d.segments):
            raise ArgumentError("range", "0 or above for sqrt", repr(self.range))
        if not 0 <= self.overlap_ratio <= 1:
            raise ArgumentError("overlap_ratio", "from 0 to 1", repr(self.overlap_ratio))
        if self.subset_size < 1 and 0 < self.subset_ratio <= 1:
            least = math.ceil(1 / self.subset_ratio)
            raise ArgumentError("inputs", f"{least} or more, so that no subset is empty", repr(self.inputs))
        if self.subset_size < 1 or self.width > self.inputs:
            expected = f"such that both subsets fit into {self.inputs} inputs"
            raise ArgumentError("subset_ratio", expected, repr(self.subset_ratio))

    @property
    def subset_size(self) -> int:
        """Inputs in each subset."""
        return _floor(self.subset_ratio * self.inputs)

    @property
    def overlap_size(self) -> int:
        """Inputs in both subsets."""
        return _floor(self.overlap_ratio * self.subset_size)

    @property
    def width(self) -> int:
        """Inputs in at least one subset."""
        return 2 * self.subset_size - self.overlap_size

    def subsets(self, seed: int) -> np.ndarray:
        """The two subsets of a seed as rows of zeros and ones, `2 x inputs`."""
        stream = key(torch.tensor([seed], dtype=torch.int32), Purpose.TASK, 0)
        start = int(uniform(stream, counters(1)).item() * (self.inputs - self.width + 1))
        second = start + self.subset_size - self.overlap_size
        rows = np.zeros((2, self.inputs))
        rows[0, start : start + self.subset_size] = 1
        rows[1, second : second + self.subset_size] = 1
        return rows

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        """Operation, range and subsets."""
        return {
            "op": ARITHMETIC_OPERATIONS.index(self.op),
            "subsets": self.subsets(seed).tolist(),
            **super().numbers(seed, split),
        }

    def identity(self) -> dict[str, Any]:
        """What determines the data, including the sizes of the subsets."""
        sizes = {"subset_ratio": self.subset_ratio, "overlap_ratio": self.overlap_ratio}
        others = {name: size for name, size in sizes.items() if size != getattr(ArithmeticDataset, name)}
        return {**super().identity(), **others}

    def batch(self, u: Tensor, numbers: Numbers) -> tuple[Tensor, Tensor]:
        """Inputs and targets."""
        x = self.draw(u, numbers).mT
        sums = weighted_sum(x, numbers["subsets"].to(x.dtype)).mT
        y = _apply(numbers["op"], sums[:, 0], sums[:, 1])
        return x, y[..., None]

    def threshold(self, split: str = Split.TEST, epsilon: float = 1e-5) -> float:
        """Mean squared error of a first layer with 1 - epsilon for relevant and epsilon for other inputs.

        Madsen & Johansen 2020, equation 16: by samples for quotients and roots; for the other operations,
        whose error is a polynomial, exactly instead of by a million samples.
        """
        span, rows = self.range_of(split), self.subsets(0)
        # Inputs of one kind (in a only, in both, in b only, in neither) have the same weights.
        kinds = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
        sizes = tuple(int((kind == rows.T).all(-1).sum()) for kind in kinds)
        if self.op in ("div", "sqrt"):
            return _simulated_error(self.op, span, sizes, epsilon)
        a, b = kinds.T
        error_a, error_b = epsilon * (1 - 2 * a), epsilon * (1 - 2 * b)
        moments = [_sum_moments(span, size) for size in sizes]
        if self.op in ("mul", "square"):
            c, error_c = (b, error_b) if self.op == "mul" else (a, error_a)
            form = np.outer(a, error_c) + np.outer(error_a, c) + np.outer(error_a, error_c)
            return _expectation(np.einsum("ij,kl->ijkl", form, form), moments)
        error = {"add": error_a + error_b, "sub": error_a - error_b, "first": error_a}[self.op]
        return _expectation(np.outer(error, error), moments)

    def ideal_(self, model: nn.Module, seed: int = 0) -> None:
        """Set the weights that solve the task, in place; the model must be a stack of two units."""
        first, second = outer_units(model)
        if first.out_features < 2:
            raise ArgumentError(
                "model", "a stack of two units with two values or more between them", repr(model)
            )
        rows = torch.zeros_like(first.weights()["W"])
        rows[..., :2, :] = torch.as_tensor(self.subsets(seed))
        with torch.no_grad():
            first.select_(rows)
        second.ideal_(self.op, 0, 1)


def _apply(code: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The operation of each run, by its index in `ARITHMETIC_OPERATIONS`; a and b `models x n`."""
    which = code[:, None]
    alone = torch.where(which == 4, a * a, torch.where(which == 5, a.sqrt(), a))
    return torch.where(which < 4, apply_operation(code, a, b), alone)


@functools.cache
def _simulated_error(op: str, span: Distribution, sizes: tuple[int, ...], epsilon: float) -> float:
    """Mean squared error of an epsilon-perfect first layer before a quotient or a root, from samples."""
    seed = torch.zeros(1, dtype=torch.int32)
    total, block = 0.0, 10_000
    for step in range(_SIMULATED // block):
        u = uniform(key(seed, Purpose.TASK, step, 1), counters(sum(sizes), block), torch.float64)
        numbers = {
            name: torch.tensor([value], dtype=torch.float64)
            for name, value in span.numbers(span.gaps).items()
        }
        x = span.draw(u, numbers)[0]
        only_a, both, only_b, neither = (part.sum(0) for part in x.split(list(sizes)))
        a, b = only_a + both, only_b + both
        off_a, off_b = a + epsilon * (only_b + neither - a), b + epsilon * (only_a + neither - b)
        error = a / b - off_a / off_b if op == "div" else a.sqrt() - off_a.sqrt()
        total += float(error.square().sum())
    return total / _SIMULATED


def _floor(value: float) -> int:
    """The whole part, such that 0.29 * 100 gives 29 although it is slightly less in floating point."""
    return math.floor(value + 1e-9)


def _sum_moments(span: Distribution, size: int) -> list[float]:
    """E[S ** k], k = 0 … 4, of the sum S of `size` independent draws: cumulants of sums add up."""
    m1, m2, m3, m4 = (span.moment(k) for k in range(1, 5))
    k1, k2 = size * m1, size * (m2 - m1**2)
    k3 = size * (m3 - 3 * m2 * m1 + 2 * m1**3)
    k4 = size * (m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4)
    return [
        1.0,
        k1,
        k2 + k1**2,
        k3 + 3 * k2 * k1 + k1**3,
        k4 + 4 * k3 * k1 + 3 * k2**2 + 6 * k2 * k1**2 + k1**4,
    ]


def _expectation(form: np.ndarray, moments: list[list[float]]) -> float:
    """E of a homogeneous polynomial, given as an array of coefficients, in independent variables."""
    total = 0.0
    for index in itertools.product(range(len(moments)), repeat=form.ndim):
        powers = [index.count(variable) for variable in range(len(moments))]
        total += form[index] * float(np.prod([moments[v][p] for v, p in enumerate(powers)]))
    return total
