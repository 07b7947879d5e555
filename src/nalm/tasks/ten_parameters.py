"""The ten-parameter function: t = (x1 + x2)(x1 + x2 + x3 + x4).

Madsen & Johansen 2020, section 1.1: eight weights select the two sums, two multiply them. It is the
arithmetic dataset with four inputs and fixed subsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nalm.errors import ArgumentError
from nalm.tasks.arithmetic import ArithmeticDataset


@dataclass(frozen=True)
class TenParameters(ArithmeticDataset):
    """(x1 + x2) op (x1 + x2 + x3 + x4).

    Args:
        op: mul in the paper; any operation of the arithmetic dataset.
        range: name of one of the nine ranges, or `train=>test` such as `1:2=>2:6`.
        inputs: four.
    """

    op: str = "mul"
    inputs: int = 4

    name = "ten-parameters"
    models: ClassVar[tuple[str, ...]] = ("nau+nmu", "nac+nac-mul", "nalu+nalu")
    ranges: ClassVar[tuple[str, ...]] = ("1:2",)

    def __post_init__(self) -> None:
        if self.inputs != 4:
            raise ArgumentError("inputs", "4 for this function", repr(self.inputs))
        super().__post_init__()

    def subsets(self, seed: int) -> np.ndarray:
        """The same for every seed."""
        return np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])

    def identity(self) -> dict[str, Any]:
        """What determines the data; the subsets are fixed."""
        whole = super().identity()
        return {name: whole[name] for name in whole if name not in ("subset_ratio", "overlap_ratio")}
