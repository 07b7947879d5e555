"""Runs of a task by search: the trainer of recipes with `by="compose"`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from nalm.discover.compose import Composed, compose
from nalm.engine.many_runs import evaluate_runs
from nalm.errors import ArgumentError
from nalm.models.composer import Composer
from nalm.second_order.solution import Cost, Found
from nalm.symbolic.expression_graph import ExpressionGraph
from nalm.tasks import Split, Task
from nalm.tasks.sampling import sample
from nalm.trained import Options, RunGroup, StepsDone, Trained

ROWS = 256
"""Rows of the training data that the search sees."""


def compose_runs(runs: RunGroup, options: Options) -> Trained:
    """Search the expression of each run in rows of its training data, and set the weights of a composer."""
    began = time.perf_counter()
    composer = runs.model
    assert isinstance(composer, Composer)
    held, costs = [], []
    for done, (task, seed) in enumerate(zip(runs.tasks, runs.seeds)):
        if options.on_progress is not None:
            options.on_progress(StepsDone(done, len(runs), time.perf_counter() - began))
        found = _found(task, seed, composer.steps)
        held.append(_parameters(composer, found.graph))
        costs.append(_cost(found).as_dict())
    chosen = {name: torch.stack([each[name] for each in held]) for name in held[0]}
    errors = evaluate_runs(replace(runs, initial=chosen), compiled=False)
    return _trained(runs, chosen, errors, costs, time.perf_counter() - began)


def check_composer(model: object, task: Task) -> None:
    """Refuse a model that is no composer, and a task without rows of numbers."""
    if not isinstance(model, Composer):
        raise ArgumentError("units", "composer for the search of `nalm.compose`", type(model).__name__)
    if task.input_shape != (task.in_features,) or task.target_shape != (1,):
        raise ArgumentError("task", "rows of numbers with one target", task.name)


def _found(task: Task, seed: int, steps: int) -> Composed:
    x, y = sample(task, seed, Split.TRAIN, ROWS)
    return compose(x.contiguous(), y.contiguous(), steps=steps)


def _parameters(composer: Composer, graph: ExpressionGraph | None) -> dict[str, Tensor]:
    """The weights of a formula; all zero without one, or if it needs a step more than there are."""
    made = Composer(composer.in_features, 1, steps=composer.steps, dtype=torch.float64)
    if graph is not None and len(graph.steps) <= composer.steps:
        made.set_graph_(graph)
    else:
        made.set_graph_(ExpressionGraph(composer.in_features, (), 0))
        made.output.data.zero_()
    return {name: p.detach() for name, p in made.named_parameters()}


def _cost(found: Composed) -> Cost:
    outcome = found.found if found.graph is not None else Found.FAILED
    left = 1 - found.r2
    return Cost(str(outcome), "search", 1, 0, 0, found.seconds, left, left, left)


def _trained(
    runs: RunGroup,
    chosen: dict[str, Tensor],
    errors: dict[Split, Tensor],
    costs: Sequence[dict[str, object]],
    seconds: float,
) -> Trained:
    """Everything happens in one step."""
    nothing = torch.full((len(runs),), -1)
    finite = torch.stack([errors[split].isfinite() for split in (Split.VALIDATION, Split.TEST)]).all(0)
    return Trained(
        model=runs.model,
        tasks=list(runs.tasks),
        seeds=list(runs.seeds),
        steps=torch.tensor([1]),
        validation=errors[Split.VALIDATION][:, None],
        test=errors[Split.TEST][:, None],
        chosen=torch.zeros(len(runs), dtype=torch.long),
        chosen_parameters=chosen,
        final_parameters={name: p.clone() for name, p in chosen.items()},
        history_steps=torch.tensor([], dtype=torch.long),
        history={},
        diverged_at=torch.where(finite, nothing, 1),
        reinitialised=torch.zeros(len(runs), dtype=torch.long),
        compiled=False,
        seconds=seconds,
        costs=list(costs),
    )
