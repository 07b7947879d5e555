"""How many seeds and steps each entry takes at a scale: pinned, for every table and figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nalm.errors import ArgumentError
from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Entry, Grid, Study
from nalm.papers.madsen2020.programs import moments, taylor
from nalm.papers.mistry2023.programs import gold, run_times
from nalm.papers.scale import Scale, make_scale
from nalm.papers.trask2018.programs import recurrent, recurrent_runs

PINNED = json.loads((Path(__file__).parent / "budgets.json").read_text(encoding="utf-8"))
SCALES = {
    "paper": Scale(),
    "quick": Scale(quick=True),
    "3 seeds": Scale(seeds=3),
    "a tenth of the steps": Scale(steps=0.1),
    "quick, 7 seeds, half of the steps": Scale(quick=True, seeds=7, steps=0.5),
}


class Untrained:
    """A store in which every run that is asked for is there, with the weights it has before training."""

    def records(self, experiment: Experiment) -> dict[Case, list[Record]]:
        return {case: [untrained(case)] * experiment.seeds for case in experiment.cases}


def untrained(case: Case) -> Record:
    precision = case.task.dtype or torch.float32
    held = {name: p.detach().to(precision).numpy() for name, p in case.build().named_parameters()}
    nothing, zero = np.zeros(0), np.zeros(1)
    further = {
        f"{split}/{measure.name}": np.zeros((*measure.shape, 1))
        for split in case.task.splits[1:]
        for measure in case.task.measures
    }
    return Record(
        id="",
        task=case.task.name,
        model=str(case.model),
        labels=case.task.labels(),
        seed=0,
        iterations=case.recipe.iterations,
        identity=case.identity,
        machine={},
        steps=zero,
        validation=zero,
        test=zero,
        chosen=0,
        diverged_at=-1,
        reinitialised=0,
        sparsity=None,
        sparsity_with_gates=None,
        ideal_validation=None,
        ideal_test=None,
        chosen_parameters=held,
        final_parameters=held,
        history_steps=nothing,
        history={},
        computed_at="",
        cost={},
        errors={recurrent_runs.TRAINING: zero, **further},
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, int]]:
    """Seeds and steps, or samples, of what programs compute without training; nothing is computed."""
    asked: set[tuple[int, int]] = set()

    def untrained_errors(seeds: int) -> recurrent.Errors:
        asked.add((seeds, 0))
        return recurrent.Errors(*[torch.ones(len(recurrent.TARGETS), seeds).numpy()] * 3)

    def gold_errors(model: str, task: object, seeds: int) -> list[float]:
        asked.add((seeds, 0))
        return [0.0] * seeds

    def sampled(r_w: float, r_z: float, samples: int, part: int) -> tuple[torch.Tensor, torch.Tensor]:
        asked.add((1, samples))
        return torch.tensor(1.0), torch.tensor(0.0)

    def drawn(self: moments.Drawn, samples: int, seed: int) -> dict[str, Finding]:
        asked.add((1, samples))
        names = ("weight variance", "output mean", "output variance", "gradient variance")
        return dict.fromkeys(names, Finding(1.0, 1.0, 1.0, samples))

    monkeypatch.setattr(moments.Drawn, "moments", drawn)
    monkeypatch.setattr(run_times.Timed, "seconds", lambda self: [1.0])
    monkeypatch.setattr(recurrent, "untrained_errors", untrained_errors)
    monkeypatch.setattr(gold, "gold_errors", gold_errors)
    monkeypatch.setattr(taylor, "sampled", sampled)
    return asked


def budgets(entry: Entry, scale: Scale, asked: set[tuple[int, int]]) -> dict[str, Any]:
    """Seeds and steps in order, each pair once, and how an entry says that they are less than the paper's."""
    pairs = {(e.seeds, case.recipe.iterations) for e in entry.experiments(scale) for case in e.cases}
    if isinstance(entry, Grid):
        return {"pairs": sorted(map(list, pairs)), "reduced": entry.budget(scale).reduced()}
    if not isinstance(entry, Study):  # half a grid, half a study
        return {"pairs": sorted(map(list, pairs)), "reduced": None}
    reduced = entry.measure(scale, Untrained()).reduced
    return {"pairs": sorted(map(list, pairs | asked)), "reduced": reduced}


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
