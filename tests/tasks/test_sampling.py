"""Rows of a task: the same as those of the streams, of the engine, and of runs drawn together."""

from __future__ import annotations

import pytest
import torch

import nalm
from nalm.engine.many_runs import evaluate_runs
from nalm.models.many import Models
from nalm.papers.shared.large_scale import BLOCK, Sums
from nalm.recipes import Recipe
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import ArithmeticDataset, Reciprocal, SingleModule, Split, Table, Task, TenParameters
from nalm.tasks.sampling import Aside, sample, sample_runs, stacked
from nalm.trained import RunGroup

TASKS: dict[str, Task] = {
    "one range": SingleModule("mul", "1:2"),
    "ranges by input": SingleModule("div", "mixed-1", 10),
    "truncated normal": SingleModule("add", "tn-0"),
    "reciprocal": Reciprocal("reciprocal", "0:1", 2),
    "ten parameters": TenParameters(),
    "subsets by seed": ArithmeticDataset("mul", "-2:2"),
    "Sobol points": Sums("mul", "-1:1=>-2:2", sobol=True),
    "a table": Table(torch.rand(300, 2, dtype=torch.float64), torch.rand(300, dtype=torch.float64)),
}
ANY_TASK = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
PURPOSES = {Split.TRAIN: Purpose.DATA, Split.VALIDATION: Purpose.VALIDATION, Split.TEST: Purpose.TEST}


def by_hand(task, seed, split, rows, stream, dtype, block=0):
    numbers = {k: torch.tensor([v], dtype=dtype) for k, v in task.numbers(seed, split).items()}
    if split != Split.TRAIN:
        numbers["block"] = torch.tensor([block], dtype=torch.int32)
    x, y = task.batch(
        uniform(stream, counters(task.draws, rows), dtype), {**numbers, **task.constants(split)}
    )
    return x[0], y[0]


def same(found, expected):
    return all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@ANY_TASK
@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_are_those_of_the_stream_of_the_split_and_block(task, split, dtype):
    if task.dtype not in (None, dtype):
        pytest.skip("a table has a precision of its own")
    for block in (0, 3):
        stream = key(torch.tensor([5], dtype=torch.int32), PURPOSES[split], block)
        expected = by_hand(task, 5, split, BLOCK, stream, dtype, block)
        found = sample(task, 5, split, BLOCK, block, dtype)
        assert same(found, expected)
        assert {part.dtype for part in found} == {dtype}


@ANY_TASK
@pytest.mark.parametrize(("aside", "step", "part"), [(Aside.STATISTICS, 1, 0), (Aside.LOOK, 0, 7)])
def test_rows_aside_come_from_a_stream_of_their_own(task, aside, step, part):
    stream = key(torch.tensor([2], dtype=torch.int32), Purpose.TASK, step, part)
    found = sample(task, 2, Split.TRAIN, BLOCK, aside=aside)
    assert same(found, by_hand(task, 2, Split.TRAIN, BLOCK, stream, torch.float64))
    assert not same(found, sample(task, 2, Split.TRAIN, BLOCK))


@ANY_TASK
def test_runs_that_are_drawn_together_have_the_rows_that_each_has_alone(task):
    seeds = [4, 0, 9]
    numbers = stacked([task.numbers(seed, Split.TEST) for seed in seeds], torch.float64)
    x, y = sample_runs(task, torch.tensor(seeds, dtype=torch.int32), Split.TEST, BLOCK, numbers, 2)
    for run, seed in enumerate(seeds):
        assert same((x[run], y[run]), sample(task, seed, Split.TEST, BLOCK, 2))


@pytest.mark.parametrize("split", [Split.VALIDATION, Split.TEST])
def test_blocks_are_what_the_engine_evaluates_on(split):
    task, unit, seed = SingleModule("mul", "-2:2"), nalm.NMU(2, 1), 3
    initial = Models(unit, torch.float32, torch.device("cpu")).initial(torch.tensor([seed]).int())
    errors = evaluate_runs(RunGroup(unit, [task], [Recipe()], [seed], initial), compiled=False)
    with torch.no_grad():
        unit.weight.copy_(initial["weight"][0])
        total = 0.0
        for block in range(task.samples(split) // task.block(split)):
            x, y = sample(task, seed, split, task.block(split), block, torch.float32)
            total += float((unit(x) - y).square().sum())
    assert float(errors[split]) == pytest.approx(total / task.samples(split), rel=1e-6)
