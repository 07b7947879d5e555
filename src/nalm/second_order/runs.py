"""Runs of a task by second-order training: the trainer of recipes with Levenberg-Marquardt."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.models.many import MOST_FOLLOWED, Models
from nalm.recipes import Recipe
from nalm.recipes.optimisers import LevenbergMarquardt
from nalm.second_order.checks import check_model, check_task
from nalm.second_order.flat import Flat
from nalm.second_order.solver import Result, Rows, solve_rows
from nalm.tasks._base import Split, Task
from nalm.tasks.sampling import sample
from nalm.threads import one_thread
from nalm.trained import Options, RunGroup, StepsDone, Trained

_LEAST_ROWS, _ROWS_PER_PARAMETER = 256, 4
_FRESH_ROWS = 1000


def solve_runs(runs: RunGroup, options: Options) -> Trained:
    """Solve each run by itself, so that its numbers do not depend on other runs.

    Args:
        runs: the runs, whose recipes have Levenberg-Marquardt.
        options: the maximum number of steps of each stage of a start, and the progress callback; precision
            and device are always float64 and the CPU.
    """
    began, iterations = time.perf_counter(), options.iterations

    def on_progress(done: int) -> None:
        if options.on_progress is not None:
            passed = time.perf_counter() - began
            options.on_progress(StepsDone(done, len(runs) * iterations, passed))

    check_model(runs.model)
    for task in runs.tasks:
        check_task(task)
    flat = Flat(Models(runs.model, torch.float64, torch.device("cpu")))
    flat.models.check_fit(runs.tasks[0].input_shape, runs.tasks[0].output_shape)
    steps = logged_steps(iterations)
    solved = []
    with torch.inference_mode(False), torch.no_grad(), one_thread():
        for done, (task, recipe, seed) in enumerate(zip(runs.tasks, runs.recipes, runs.seeds)):
            on_progress(done * iterations)
            solved.append(_run(flat, task, recipe, seed, iterations, steps))
            _tell(options, done, flat, task, steps, solved[-1])
        on_progress(len(runs) * iterations)
        return _collect(flat, runs, steps, solved, time.perf_counter() - began)


def logged_steps(iterations: int) -> list[int]:
    """Steps at which errors are logged: dense at first, the same for all runs of a recipe."""
    found = [0, 1]
    while found[-1] < iterations:
        found.append(found[-1] + max(1, found[-1] // 2))
    return [*(step for step in found if step < iterations), iterations]


class _Solved:
    """One run: its result, its parameters at the logged steps, `points x parameters`, and its errors there.

    Errors are by `split/name`, each `points x ...`.
    """

    def __init__(self, result: Result, points: Tensor, errors: dict[str, Tensor]) -> None:
        self.result, self.points, self.errors = result, points, errors


def _run(flat: Flat, task: Task, recipe: Recipe, seed: int, limit: int, steps: Sequence[int]) -> _Solved:
    method = recipe.optimiser
    assert isinstance(method, LevenbergMarquardt)
    rows = max(_LEAST_ROWS, _ROWS_PER_PARAMETER * flat.size)
    drawn = Rows.of(
        _contiguous(sample(task, seed, Split.TRAIN, rows)),
        _contiguous(sample(task, seed, Split.TRAIN, _FRESH_ROWS, block=1)),
    )
    result = solve_rows(flat, drawn, seed, starts=method.starts, grow=method.grow, steps=limit)
    # After its last step a run keeps its parameters; a run of two stages may have taken more steps.
    last = len(result.path) - 1
    at = [min(step, last) for step in steps[:-1]]
    points = torch.stack([*(result.path[k] for k in at), result.vector])
    errors = {
        f"{split}/{name}": error
        for split in task.splits
        if split != Split.TRAIN
        for name, error in _errors(flat, task, seed, split, points).items()
    }
    return _Solved(result, points, errors)


def _tell(options: Options, index: int, flat: Flat, task: Task, steps: Sequence[int], run: _Solved) -> None:
    """Report the logged steps of a run, all at once: only then is it known which start was chosen."""
    decisive = task.measures[0].name
    validation, test = (run.errors[f"{split}/{decisive}"] for split in (Split.VALIDATION, task.tests[0]))
    for k, step in enumerate(steps):
        at = slice(k, k + 1)
        options.tell(index, step, validation[at], test[at], flat.named(run.points[at]))


def _contiguous(rows: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The same rows, contiguous in memory, which fixes the order of sums over them."""
    x, y = rows
    return x.contiguous(), y.contiguous()


def _errors(flat: Flat, task: Task, seed: int, split: str, points: Tensor) -> dict[str, Tensor]:
    """The task's errors on the fixed set of a split by name, each `points x ...`."""
    block, measures = task.block(split), task.measures
    totals = {m.name: torch.zeros(len(points), *m.shape, dtype=torch.float64) for m in measures}
    distinct = [0, *(k for k in range(1, len(points)) if not torch.equal(points[k], points[k - 1]))]
    for index in range(task.samples(split) // block):
        x, y = _contiguous(sample(task, seed, split, block, index))
        prediction = flat.predict(points[distinct], x)
        for measure in measures:
            totals[measure.name][distinct] += measure.total(prediction, y)
    for before, after in itertools.pairwise([*distinct, len(points)]):
        for total in totals.values():
            total[before:after] = total[before].clone()
    return {
        m.name: totals[m.name] / (task.samples(split) * m.per_sample(task.target_shape)) for m in measures
    }


def _collect(
    flat: Flat, runs: RunGroup, steps: Sequence[int], solved: list[_Solved], seconds: float
) -> Trained:
    chosen = flat.named(torch.stack([run.result.vector for run in solved]))
    history = torch.stack([run.points for run in solved])
    kept = flat.size <= MOST_FOLLOWED
    curves = {name: _over_time([run.errors[name] for run in solved]) for name in solved[0].errors}
    decisive = runs.tasks[0].measures[0].name
    shaped = {
        name: part.reshape(len(runs), len(steps), *shape)
        for (name, shape), part in zip(flat.shapes.items(), history.split(flat.sizes, -1), strict=True)
    }
    return Trained(
        model=runs.model,
        tasks=list(runs.tasks),
        seeds=list(runs.seeds),
        steps=torch.tensor(steps),
        validation=curves.pop(f"{Split.VALIDATION}/{decisive}"),
        test=curves.pop(f"{runs.tasks[0].tests[0]}/{decisive}"),
        # The last point holds the weights that were chosen on fresh rows.
        chosen=torch.full((len(runs),), len(steps) - 1),
        chosen_parameters=chosen,
        final_parameters={name: p.clone() for name, p in chosen.items()},
        history_steps=torch.tensor(steps if kept else [], dtype=torch.long),
        history=shaped if kept else {},
        diverged_at=torch.full((len(runs),), -1),
        reinitialised=torch.zeros(len(runs), dtype=torch.long),
        compiled=False,
        seconds=seconds,
        costs=[run.result.cost.as_dict() for run in solved],
        errors=curves,
    )


def _over_time(errors: Sequence[Tensor]) -> Tensor:
    """Errors of each run, `points x ...`, as one tensor with the points last."""
    return torch.stack(list(errors)).movedim(1, -1)
