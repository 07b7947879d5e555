"""Tasks on ranges: from uniform numbers to samples of a range that may differ from run to run."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from nalm.tasks._base import Numbers, Split, Task
from nalm.tasks.ranges import Range, parse_pair


class RangeTask(Task):
    """A task on `inputs` inputs that are drawn independently from a training and a test range."""

    inputs: int
    range: str

    @property
    def in_features(self) -> int:  # type: ignore[override]
        """The number of inputs."""
        return self.inputs

    @property
    def train_range(self) -> Range:
        """Where training and validation data are drawn."""
        return parse_pair(self.range)[0]

    @property
    def test_range(self) -> Range:
        """Where test data are drawn."""
        return parse_pair(self.range)[1]

    def range_of(self, split: Split) -> Range:
        """Where the data of a split are drawn."""
        return self.test_range if split is Split.TEST else self.train_range

    def shape(self) -> Hashable:
        """The number of inputs, and how many gaps the ranges have in training and in evaluation."""
        return (type(self), self.inputs, *gaps(self.train_range, self.test_range))

    def numbers(self, seed: int, split: Split) -> dict[str, Any]:
        """The range of the split."""
        training, evaluation = gaps(self.train_range, self.test_range)
        return range_numbers(self.range_of(split), training if split is Split.TRAIN else evaluation)


def range_numbers(span: Range, jumps: int) -> dict[str, Any]:
    """A range as numbers of a run, padded to this many jumps with jumps of width zero."""
    padded = span.jumps + [(float("inf"), 0.0)] * (jumps - len(span.jumps))
    return {
        "low": span.low,
        "span": span.span,
        "cut": [cut for cut, _ in padded],
        "gap": [gap for _, gap in padded],
    }


def gaps(train: Range, test: Range) -> tuple[int, int]:
    """How many gaps a program provides for, in training and in evaluation (both splits in one program)."""
    return len(train.jumps), max(1, len(train.jumps), len(test.jumps))


def draw_range(u: Tensor, numbers: Numbers) -> Tensor:
    """Samples of the range from uniform numbers of shape `models x ...`.

    The gaps of a union are closed, one interval is drawn from, and the gaps are opened again.
    """

    def column(value: Tensor) -> Tensor:
        return value.to(u.dtype).reshape((-1,) + (1,) * (u.dim() - 1))

    x = column(numbers["low"]) + u * column(numbers["span"])
    cuts, gaps = numbers["cut"], numbers["gap"]
    opened = x
    for k in range(cuts.shape[-1]):
        opened = opened + torch.where(x >= column(cuts[..., k]), column(gaps[..., k]), 0.0)
    return opened


def apply_operation(code: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """add, sub, mul or div by code 0 to 3 of each run: code `models`, a and b `models x n`."""
    which = code[:, None]
    return torch.where(
        which == 0, a + b, torch.where(which == 1, a - b, torch.where(which == 2, a * b, a / b))
    )
