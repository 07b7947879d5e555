"""The loss of a unit over two of its weights, and what training does there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nalm.evaluate.outcome import Outcome
from nalm.models.many import Parameters
from nalm.papers.shared.points import evenly_spaced, lattice
from nalm.recipes import Recipe
from nalm.report.gallery.planes import OPERATIONS, PLANES, Plane
from nalm.tasks import SingleModule, Split
from nalm.tasks.sampling import sample
from nalm.training.published import published_recipe
from nalm.training.result import TrainResult
from nalm.training.trainers import train_runs
from nalm.units import Unit, unit_class

PROBLEMS = (("mul", "1:2"), ("mul", "-2:-1"), ("div", "1:2"))
"""Operations and ranges; a unit has those that its ideal weights solve."""
ROWS = 128
"""Rows of the training range that the loss is the mean of: a batch."""
_DISCRETE = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)
_SOLVES = 1e-9
"""The share of the targets' mean square below which a loss is that of a solution: epsilons cost 1e-13."""
_CLOSE = 0.1
"""Distance from a minimum below which a run has arrived there."""
_LOG_INTERVAL = 1000
_FINE, _POINTS = 16, 60
"""Weights move most at the beginning: the first 1/16 is followed again in finer steps, and its first 1/16."""


@dataclass(frozen=True)
class Descent:
    """The loss of a unit over two weights, and runs that descend it.

    Attributes:
        task: what the unit learns.
        axis: the values of either weight, `n`.
        loss: the mean squared error without penalty, `n x n`, the first weight first.
        minima: the discrete weights at which it vanishes, `m x 2`.
        paths: the weights of the runs over time, `runs x points x 2`.
        solved: which runs solved the task, by its published threshold.
    """

    task: SingleModule
    axis: Tensor
    loss: Tensor
    minima: Tensor
    paths: Tensor
    solved: list[bool]

    @property
    def arrived(self) -> list[bool]:
        """Which runs end close to a minimum, in the two weights that are drawn."""
        apart = (self.paths[:, -1, None] - self.minima).norm(dim=-1)
        return (apart < _CLOSE).any(-1).tolist()


def descents(name: str, *, seeds: int = 10, side: int = 121, steps: int | None = None) -> list[Descent]:
    """The loss surfaces of a unit, with runs of its published recipe from its own initial weights.

    Args:
        name: the unit.
        seeds: runs per surface.
        side: points of the surface along each side.
        steps: how many of the recipe's steps to take; by default all.
    """
    kind, plane = unit_class(name), PLANES[name]
    tasks = problems(kind)
    paths, solved = _trained(kind, plane, tasks, seeds, steps)
    axis = evenly_spaced(*plane.shown, side)
    made = []
    for k, task in enumerate(tasks):
        grid = loss(name, task, lattice(axis, axis)).reshape(side, side)
        runs = slice(k * seeds, (k + 1) * seeds)
        made.append(Descent(task, axis, grid, minima(name, task), paths[runs], solved[runs]))
    return made


def problems(kind: type[Unit]) -> list[SingleModule]:
    """The tasks that a unit is drawn on; without negative numbers, if its ideal weights are not for them."""
    return [
        SingleModule(op, range_)
        for op, range_ in PROBLEMS
        if op in kind.ops and not (kind.positive and range_.startswith("-"))
    ]


@torch.no_grad()
def loss(name: str, task: SingleModule, weights: Tensor) -> Tensor:
    """The mean squared error of a unit on its training range at pairs of weights, `n x 2`."""
    plane = PLANES[name]
    unit = unit_class(name)(2, 1, batch_shape=(len(weights),), dtype=torch.float64)
    unit.train(plane.training)
    plane.place_(unit, task.op, weights)
    x, y = sample(task, 0, Split.VALIDATION, ROWS)
    return (unit(x.expand(len(weights), *x.shape)) - y).square().mean((-2, -1))


def minima(name: str, task: SingleModule) -> Tensor:
    """The discrete weights at which the loss vanishes, `m x 2`."""
    plane, points = PLANES[name], lattice(_DISCRETE, _DISCRETE)
    points = points[((points >= plane.low) & (points <= plane.high)).all(-1)]
    _, y = sample(task, 0, Split.VALIDATION, ROWS)
    return points[loss(name, task, points) < _SOLVES * y.square().mean()]


def _trained(
    kind: type[Unit], plane: Plane, tasks: Sequence[SingleModule], seeds: int, steps: int | None
) -> tuple[Tensor, list[bool]]:
    """Paths `runs x points x 2` of all tasks together, and which runs solved theirs."""
    unit = kind(2, 1)
    each = [task for task in tasks for _ in range(seeds)]
    recipes = [published_recipe(unit, task) for task in each]
    total = steps or recipes[0].iterations
    # The same seeds and recipes repeat the same steps: a shorter run is the beginning of a longer one.
    spans = sorted({max(1, total // _FINE**2), max(1, total // _FINE), total})
    parts, reached = list[Tensor](), -1
    for span in spans:
        interval = _LOG_INTERVAL if span == recipes[0].iterations else max(1, span // _POINTS)
        result = _run(unit, each, recipes, list(range(seeds)) * len(tasks), span, interval)
        later = result.history_steps > reached
        parts.append(_read(kind, plane, each, {name: p[:, later] for name, p in result.history.items()}))
        reached = span
    return torch.cat(parts, 1), [outcome is Outcome.SOLVED for outcome in result.outcomes()]


def _run(
    unit: Unit,
    tasks: Sequence[SingleModule],
    recipes: Sequence[Recipe],
    seeds: Sequence[int],
    span: int,
    interval: int,
) -> TrainResult:
    whole = [replace(recipe, iterations=span) for recipe in recipes]
    return train_runs(unit, tasks, whole, seeds, iterations=span, log_interval=interval)


def _read(kind: type[Unit], plane: Plane, tasks: Sequence[SingleModule], history: Parameters) -> Tensor:
    """The two weights of all runs over time, `runs x points x 2`."""
    shape = next(iter(history.values())).shape[:2]
    unit = kind(2, 1, batch_shape=shape)
    unit.load_state_dict(history)
    read = {op: plane.read(unit, op) for op in OPERATIONS if op in kind.ops}
    return torch.stack([read[task.op][k] for k, task in enumerate(tasks)]).double()
