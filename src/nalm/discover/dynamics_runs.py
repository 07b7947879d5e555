"""Runs of an epidemic by `find_dynamics`: the trainer of recipes with `by="dynamics"`."""

from __future__ import annotations

import time
from dataclasses import replace

import torch
from torch import Tensor, nn

from nalm.discover.dynamics import find_dynamics
from nalm.discover.power_laws import PowerLaws
from nalm.engine.many_runs import evaluate_runs
from nalm.errors import ArgumentError
from nalm.models.flow import Flow
from nalm.tasks import Epidemic, Split, Task
from nalm.trained import Options, RunGroup, StepsDone, Trained
from nalm.units import NAU, RealNPU

MOST_KEPT = 64
"""Equations of the Pareto front that are stored."""


def check_dynamics(model: nn.Module, task: Task) -> None:
    """Refuse a model that is no NPU or RealNPU followed by a NAU, and a task without a trajectory."""
    if not isinstance(task, Epidemic):
        raise ArgumentError("task", "one whose states are observed over time, such as epidemic", task.name)
    _stack(model)


def dynamics_runs(runs: RunGroup, options: Options) -> Trained:
    """Find the equations of each run in its observed states, and set the weights of the units.

    The history has the Pareto front, the largest equations first.
    """
    began = time.perf_counter()
    powers, _ = _stack(runs.model)
    fronts: list[list[dict[str, Tensor]]] = []
    chosen: list[dict[str, Tensor]] = []
    for done, (task, seed) in enumerate(zip(runs.tasks, runs.seeds)):
        if options.on_progress is not None:
            options.on_progress(StepsDone(done, len(runs), time.perf_counter() - began))
        assert isinstance(task, Epidemic)
        found = find_dynamics(*task.observed(seed), terms=powers.out_features, seed=seed)
        fronts.append([weights_of(runs.model, each.laws) for each in found.front[:MOST_KEPT]])
        chosen.append(weights_of(runs.model, found.laws))
    points = max(map(len, fronts))
    # Shorter fronts end with their last equations, repeated.
    padded = [[*front, *[front[-1]] * (points - len(front))] for front in fronts]
    best = {name: torch.stack([each[name] for each in chosen]) for name in chosen[0]}
    errors = evaluate_runs(replace(runs, initial=best), compiled=False)
    finite = torch.stack([errors[split].isfinite() for split in (Split.VALIDATION, Split.TEST)]).all(0)
    return Trained(
        model=runs.model,
        tasks=list(runs.tasks),
        seeds=list(runs.seeds),
        steps=torch.tensor([1]),
        validation=errors[Split.VALIDATION][:, None],
        test=errors[Split.TEST][:, None],
        chosen=torch.zeros(len(runs), dtype=torch.long),
        chosen_parameters=best,
        final_parameters={name: p.clone() for name, p in best.items()},
        history_steps=torch.arange(points),
        history={
            name: torch.stack([torch.stack([each[name] for each in front]) for front in padded])
            for name in best
        },
        diverged_at=torch.where(finite, -1, 1),
        reinitialised=torch.zeros(len(runs), dtype=torch.long),
        compiled=False,
        seconds=time.perf_counter() - began,
    )


def weights_of(model: nn.Module, laws: PowerLaws) -> dict[str, Tensor]:
    """The parameters of a model that computes these equations, by name."""
    powers, sums = _stack(model)
    held = {id(p): name for name, p in model.named_parameters()}
    found = {name: torch.zeros_like(p, dtype=torch.float64) for name, p in model.named_parameters()}
    found[held[id(powers.weight)]] = torch.from_numpy(laws.exponents.copy())
    found[held[id(sums.weight)]] = torch.from_numpy(laws.factors.copy())
    if (gate := getattr(powers, "gate", None)) is not None:
        found[held[id(gate)]] = torch.ones_like(gate, dtype=torch.float64)
    return found


def _stack(model: nn.Module) -> tuple[RealNPU, NAU]:
    inside = model.unit if isinstance(model, Flow) else model
    units = list(inside) if isinstance(inside, nn.Sequential) else [inside]
    if len(units) == 2 and isinstance(units[0], RealNPU) and isinstance(units[1], NAU):
        return units[0], units[1]
    expected = "realnpu+nau or npu+nau, whose equations can be found by elimination"
    raise ArgumentError("units", expected, "+".join(type(unit).__name__ for unit in units))
