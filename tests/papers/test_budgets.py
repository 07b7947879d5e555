"""How many seeds and steps each entry takes at a scale: pinned, for every table and figure."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Entry, Grid
from nalm.papers.heim2020.programs import large as heim_large
from nalm.papers.heim2020.programs import simple as heim_simple
from nalm.papers.madsen2020.programs import taylor
from nalm.papers.mistry2023.programs import (
    feature_scaling,
    gold,
    mlp_surfaces,
    relevance,
    scaled,
    setups,
    starts,
)
from nalm.papers.scale import Scale, make_scale
from nalm.papers.schloer2020.entries import experiments as inalu_authors
from nalm.papers.schloer2020.programs import tasks as inalu_tasks
from nalm.papers.trask2018.programs import identity, recurrent

PINNED = json.loads((Path(__file__).parent / "budgets.json").read_text(encoding="utf-8"))
SCALES = {
    "paper": Scale(),
    "quick": Scale(quick=True),
    "3 seeds": Scale(seeds=3),
    "a tenth of the steps": Scale(steps=0.1),
    "quick, 7 seeds, half of the steps": Scale(quick=True, seeds=7, steps=0.5),
}


class Trained:
    """What training would give, with the weights that the model has before it."""

    def __init__(self, model: nn.Module, tasks: list[Any], runs: int) -> None:
        self.model, self.tasks, self.runs = model, tasks, runs
        self.final_parameters = {
            name: p.detach().expand(runs, *p.shape) for name, p in model.named_parameters()
        }
        self.chosen_parameters = {"weight": torch.zeros(runs, 1, 2)}
        self.test = torch.zeros(runs, 1)

    def chosen_error(self, split: object) -> torch.Tensor:
        return torch.zeros(self.runs)

    def outcomes(self) -> list[str]:
        return ["solved"] * self.runs

    def model_of(self, run: int) -> nn.Module:
        return self.model


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, int]]:
    """Seeds and steps that programs ask for; nothing is trained."""
    asked: set[tuple[int, int]] = set()

    def train_runs(model, tasks, recipes, seeds, iterations=None, **others):  # type: ignore[no-untyped-def]
        per_task = [list(seeds)[k] for k, task in enumerate(tasks) if task == tasks[0]]
        asked.add((len(per_task), iterations or recipes[0].iterations))
        return Trained(model, tasks, len(seeds))

    def train(model, data, recipe, *, seeds, iterations, compiled):  # type: ignore[no-untyped-def]
        asked.add((seeds, iterations))
        return Trained(model, [], seeds)

    def identity_errors(activation: str, models: int, steps: int, farthest: int) -> torch.Tensor:
        asked.add((models, steps))
        return torch.zeros(models, 2 * farthest + 1)

    def recurrent_errors(name: str, seeds: int, steps: int) -> recurrent.Errors:
        asked.add((seeds, steps))
        return recurrent.Errors(*[torch.ones(len(recurrent.TARGETS), seeds).numpy()] * 3)

    def inalu_data(task, purpose, seeds, plan):  # type: ignore[no-untyped-def]
        return SimpleNamespace(seeds=seeds, places=len(task.distributions))

    def inalu_train(kind, sizes, data, plan, **others):  # type: ignore[no-untyped-def]
        assert plan.samples == 64_000
        asked.add((data.seeds, plan.epochs))

    def gold_errors(model: str, task: object, seeds: int) -> list[float]:
        asked.add((seeds, 0))
        return [0.0] * seeds

    def fit(fixed: bool, seed: int, rounds: int) -> scaled.MinMaxScaled:
        asked.add((seed + 1, rounds))
        return scaled.MinMaxScaled(*scaled.batch(), fixed)

    def sampled(r_w: float, r_z: float, samples: int, part: int) -> tuple[torch.Tensor, torch.Tensor]:
        asked.add((1, samples))
        return torch.tensor(1.0), torch.tensor(0.0)

    for program in (feature_scaling, heim_large, heim_simple, mlp_surfaces, setups, starts):
        monkeypatch.setattr(program, "train_runs", train_runs)
    monkeypatch.setattr(relevance, "train", train)
    monkeypatch.setattr(identity, "errors", identity_errors)
    monkeypatch.setattr(recurrent, "trained_errors", recurrent_errors)
    monkeypatch.setattr(recurrent, "untrained_errors", lambda seeds: recurrent_errors("LSTM", seeds, 0))
    monkeypatch.setattr(inalu_tasks.FourOperations, "data", inalu_data)
    monkeypatch.setattr(inalu_authors, "train", inalu_train)
    monkeypatch.setattr(
        inalu_authors, "errors", lambda kind, _, data: torch.zeros(data.places * data.seeds, 4)
    )
    monkeypatch.setattr(gold, "gold_errors", gold_errors)
    monkeypatch.setattr(scaled, "fit", fit)
    monkeypatch.setattr(taylor, "sampled", sampled)
    return asked


def budgets(entry: Entry, scale: Scale, asked: set[tuple[int, int]]) -> dict[str, Any]:
    """Seeds and steps in order, each pair once, and how an entry says that they are less than the paper's."""
    pairs = {(e.seeds, case.recipe.iterations) for e in entry.experiments(scale) for case in e.cases}
    if isinstance(entry, Grid):
        return {"pairs": sorted(map(list, pairs)), "reduced": entry.budget(scale).reduced()}
    if entry.experiments(scale):  # half a grid, half a program
        return {"pairs": sorted(map(list, pairs)), "reduced": None}
    reduced = entry.measure(scale, None).reduced
    return {"pairs": sorted(map(list, asked)), "reduced": reduced}


def test_the_full_budget_is_not_reduced_and_a_part_of_it_says_so() -> None:
    full = Budget(Scale(), 100, quick_seeds=10, quick_steps=0.1)
    assert (full.seeds, full.steps(10_000), full.reduced()) == (100, 10_000, [])
    quick = Budget(Scale(quick=True), 100, quick_seeds=10, quick_steps=0.1)
    assert (quick.seeds, quick.steps(10_000), quick.steps(10, least=3)) == (10, 1_000, 3)
    assert quick.fewer_seeds("models") == ["models: 10 instead of 100"]
    assert quick.fewer_steps(10_000) == ["steps: 1000 instead of 10000"]
    assert quick.reduced() == [
        "seeds: 10 instead of 100",
        "steps: 0.1 of the paper's, schedules shortened with them",
    ]


def test_what_is_asked_for_comes_before_the_quick_scale() -> None:
    asked_for = Budget(Scale(quick=True, seeds=7, steps=0.5), 25, quick_steps=0.02)
    assert (asked_for.seeds, asked_for.factor) == (7, 0.5)
    assert Budget(Scale(quick=True), 3).seeds == 3


def test_rows_that_do_not_exist_are_refused() -> None:
    assert chosen_rows(make_scale(rows=["b"]), ["a", "b"]) == ["b"]
    with pytest.raises(ArgumentError, match="rows"):
        chosen_rows(make_scale(rows=["c"]), ["a", "b"])


def test_every_entry_is_pinned() -> None:
    assert list(PINNED) == list(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_seeds_and_steps_are_those_of_the_protocol(name: str, asked: set[tuple[int, int]]) -> None:
    found = {}
    for words, scale in SCALES.items():
        asked.clear()
        found[words] = budgets(ENTRIES[name], scale, asked)
    assert found == PINNED[name]
