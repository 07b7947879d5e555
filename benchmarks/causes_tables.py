"""Trials of table 1 of Heim et al. 2020 and of table 1 of Madsen & Johansen 2020."""

from __future__ import annotations

import statistics
from dataclasses import replace

import torch

from nalm.evaluate.intervals import beta_interval
from nalm.experiment.bench import Experiment
from nalm.experiment.rows import judged_runs
from nalm.experiment.run import Case
from nalm.models import GivenModel
from nalm.papers.agreement import Finding
from nalm.papers.heim2020.programs import simple
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.findings import found, median_deviation
from nalm.papers.shared.networks import final_model
from nalm.recipes.distances import distance_to_integer_sign
from public_forms import WiderFunctions, nau_and_cancelling_nmu
from trial import Pair, Trial, row


def heim(name: str, change: str, **changes: object) -> Trial:
    """A change to the recipe of one network, or to its task."""
    before = simple.ROWS[name].case(name, simple.STEPS)
    task = WiderFunctions() if changes.pop("wider", False) else before.task
    after = replace(before, task=task, other_recipe=replace(before.recipe, **changes))  # type: ignore[arg-type]

    def measure(run: StoreRunner) -> dict[str, Pair]:
        first, second = (_grid_errors(case, run) for case in (before, after))
        return {column: (first[column], second[column]) for column in first}

    return Trial("heim2020:table1", f"{name}, div", change, measure)


def _grid_errors(case: Case, run: StoreRunner) -> dict[str, Finding]:
    """Median and median absolute deviation, and the mean with its standard error, by function."""
    records = run.records(Experiment("causes", (case,), 20))[case]
    models = [final_model(case, record) for record in records]
    found_by = {}
    for k, column in enumerate(simple.FUNCTIONS):
        errors = [simple.grid_error(model, column, k) for model in models]
        spread = statistics.stdev(errors) / len(errors) ** 0.5
        middle = statistics.fmean(errors)
        found_by[f"{column}, median ± MAD"] = median_deviation(errors)
        found_by[f"{column}, mean ± SE"] = Finding(middle, middle - spread, middle + spread, len(errors))
    return found_by


def sparsity(change: str, *, cancel: bool, last: bool) -> Trial:
    """The sparsity error of solved NAU and NMU on the ten-parameter function."""
    before = row("madsen2020:table1", "NMU")["mul"]
    model = GivenModel("public:nau+cancelling-nmu", nau_and_cancelling_nmu)
    after = replace(before, model=model, other_recipe=before.recipe) if cancel else before

    def measure(run: StoreRunner) -> dict[str, Pair]:
        sides = [_sparsity(run, before, last=False), _sparsity(run, after, last=last)]
        return {"sparsity error": (sides[0], sides[1])}

    return Trial("madsen2020:table1", "NMU, sparsity error 2.6e-8", change, measure)


def _sparsity(run: StoreRunner, case: Case, *, last: bool) -> Finding:
    records = run.records(Experiment("causes", (case,), 100))[case]
    solved = [each.record for each in judged_runs(case, records) if each.assessment.outcome == "solved"]
    held = [each.final_parameters if last else each.chosen_parameters for each in solved]
    errors = [
        max(float(distance_to_integer_sign(torch.from_numpy(w)).max()) for w in each.values())
        for each in held
    ]
    return found(beta_interval(errors), len(errors))
