"""From uniform numbers to samples of a range that may differ from run to run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nalm.tasks._base import Numbers
from nalm.tasks.ranges import Range


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
