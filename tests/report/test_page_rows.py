"""Rows of a page: runs that are not the same are never one row, and every row has a name."""

from dataclasses import replace

import pytest
from made_runs import bare_record, made_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.stored_cases import stored_cases
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Grid
from nalm.recipes import PCC, Adam, Recipe
from nalm.report.page_rows import page_rows_of
from nalm.tasks import RangeTask


def test_long_differences_are_numbered():
    (case,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cases
    others = [
        replace(case, iterations=k, other_recipe=replace(case.recipe, optimiser=Adam(0.25, 0.5, 0.5)))
        for k in (3, 4)
    ]
    rows = page_rows_of(stored_cases([made_record(Run(each, 0), solved=True) for each in others]))
    assert [row.label for row in rows] == [
        "nmu · iterations=3 · variant 1",
        "nmu · iterations=4 · variant 2",
    ]
    assert not any(row.second_rank for row in rows)  # there is no plain one beside them


@pytest.mark.parametrize("model", [None, "gone.py:Unit"])
def test_runs_that_are_not_the_same_are_never_pooled(model):
    """Other recipes, also where the file of a unit is gone and nobody knows the usual one."""
    (case,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cases
    others = [case, replace(case, iterations=7), replace(case, other_recipe=Recipe(loss=PCC()))]
    rows = page_rows_of(
        stored_cases([made_record(Run(each, 0), solved=True, model=model) for each in others])
    )
    assert len({row.label for row in rows}) == 3


def test_hidden_sizes_are_variants():
    (case,) = make_experiment("single-module", ["nau+nmu"], ["mul"], ["1:2"], seeds=1).cases
    records = [made_record(Run(replace(case, hidden=size), 0), solved=True) for size in (2, 10)]
    assert [row.label for row in page_rows_of(stored_cases(records))] == ["nau+nmu", "nau+nmu · hidden=10"]


def test_every_cell_of_the_ledger_on_ranges_has_a_line_of_its_own():
    cases = {
        case.text: case
        for entry in ENTRIES.values()
        if isinstance(entry, Grid)
        for place in entry.places.values()
        for case in place.cases
        if isinstance(case.task, RangeTask)
    }
    rows = page_rows_of(stored_cases([bare_record(Run(case, 0)) for case in cases.values()]))
    assert len(rows) == len(cases) > 1000
    assert len({(row.section, row.label, row.op, row.range) for row in rows}) == len(cases)
