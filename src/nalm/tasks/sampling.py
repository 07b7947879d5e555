"""Rows of a task, drawn from the counter-based streams: the only way to get them outside of a program.

The same seed, split and block always give the same rows. Runs are evaluated on those of validation and test,
block by block; those of training are the batches, one block per step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks._base import Numbers, Split, Task

FURTHER = 20
"""The blocks of each further test set begin at a multiple of 2 to this power."""


def stream_of(task: Task, split: str) -> tuple[Purpose, int]:
    """The stream of a split, and the index of its first block."""
    if split == Split.TRAIN:
        return Purpose.DATA, 0
    if split == Split.VALIDATION:
        return Purpose.VALIDATION, 0
    return Purpose.TEST, task.tests.index(split) << FURTHER


def block_in_split(step: Tensor) -> Tensor:
    """The index of a block within its split."""
    return step & ((1 << FURTHER) - 1)


class Aside(Enum):
    """Streams that runs are neither trained nor evaluated on: step and part of `Purpose.TASK`."""

    STATISTICS = (1, 0)
    """For statistics of a task, such as the mean of its inputs."""
    LOOK = (0, 7)
    """For an optimiser or a rehearsal that needs rows before the first step."""


def sample(
    task: Task,
    seed: int,
    split: str,
    rows: int,
    block: int = 0,
    dtype: torch.dtype = torch.float64,
    *,
    aside: Aside | None = None,
) -> tuple[Any, Tensor]:
    """Inputs `rows x in` and targets `rows x out` of one seed; a tuple, if the network takes several inputs.

    Args:
        task: the task.
        seed: the seed of the run.
        split: the split whose distribution, and without `aside` whose stream, is used.
        rows: the number of rows.
        block: the index of the block in the stream; rows of different blocks are independent.
        dtype: precision of the rows.
        aside: a separate stream to use instead of that of the split and block.
    """
    seeds = torch.tensor([seed], dtype=torch.int32)
    numbers = stacked([task.numbers(seed, split)], dtype)
    x, y = sample_runs(task, seeds, split, rows, numbers, block, dtype, aside=aside)
    return (x[0] if isinstance(x, Tensor) else tuple(each[0] for each in x)), y[0]


def sample_runs(
    task: Task,
    seeds: Tensor,
    split: str,
    rows: int,
    numbers: Numbers,
    block: int = 0,
    dtype: torch.dtype = torch.float64,
    *,
    aside: Aside | None = None,
) -> tuple[Any, Tensor]:
    """Inputs `runs x rows x in` and targets `runs x rows x out` of runs of tasks of one shape.

    Args:
        task: one of the tasks.
        seeds: int32, one per run.
        split: see `sample`.
        rows: the number of rows per run.
        numbers: the numbers of the runs on the split, see `stacked`.
        block: see `sample`.
        dtype: see `sample`.
        aside: see `sample`.
    """
    purpose, first = stream_of(task, split)
    place = (purpose, first + block) if aside is None else (Purpose.TASK, *aside.value)
    stream = key(seeds, *place)
    if split != Split.TRAIN:
        numbers = {**numbers, "block": torch.full_like(seeds, block)}
    u = uniform(stream, counters(task.draws_in(split), rows, device=seeds.device), dtype)
    constants = {name: _in(dtype, tensor) for name, tensor in task.constants(split).items()}
    return task.batch(u, {**numbers, **constants})


def stacked(
    numbers: Sequence[Mapping[str, Any]], dtype: torch.dtype, device: torch.device | None = None
) -> dict[str, Tensor]:
    """The numbers of runs by name, `runs x ...`."""
    return {
        name: torch.tensor([each[name] for each in numbers], dtype=dtype, device=device)
        for name in numbers[0]
    }


def _in(dtype: torch.dtype, tensor: Tensor) -> Tensor:
    """A constant in the precision of the rows; integer tensors are not converted."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor
