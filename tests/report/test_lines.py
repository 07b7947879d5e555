"""Lines of a page: runs that are not the same are never one line, and every line has a name."""

from dataclasses import replace

import pytest
from made_runs import bare_record, made_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Run
from nalm.experiment.stored import stored_cells
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Grid
from nalm.recipes import PCC, Adam, Recipe
from nalm.report.lines import lines_of


def test_long_differences_are_numbered():
    (cell,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cells
    others = [
        replace(cell, iterations=k, other_recipe=replace(cell.recipe, optimiser=Adam(0.25, 0.5, 0.5)))
        for k in (3, 4)
    ]
    lines = lines_of(stored_cells([made_record(Run(each, 0), solved=True) for each in others]))
    assert [line.label for line in lines] == [
        "nmu · iterations=3 · variant 1",
        "nmu · iterations=4 · variant 2",
    ]
    assert not any(line.second_rank for line in lines)  # there is no plain one beside them


@pytest.mark.parametrize("model", [None, "gone.py:Unit"])
def test_runs_that_are_not_the_same_are_never_pooled(model):
    """Other recipes, also where the file of a unit is gone and nobody knows the usual one."""
    (cell,) = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).cells
    others = [cell, replace(cell, iterations=7), replace(cell, other_recipe=Recipe(loss=PCC()))]
    lines = lines_of(stored_cells([made_record(Run(each, 0), solved=True, model=model) for each in others]))
    assert len({line.label for line in lines}) == 3


def test_hidden_sizes_are_variants():
    (cell,) = make_experiment("single-module", ["nau+nmu"], ["mul"], ["1:2"], seeds=1).cells
    records = [made_record(Run(replace(cell, hidden=size), 0), solved=True) for size in (2, 10)]
    assert [line.label for line in lines_of(stored_cells(records))] == ["nau+nmu", "nau+nmu · hidden=10"]


def test_every_cell_of_the_ledger_has_a_line_of_its_own():
    cells = {
        cell.text: cell
        for entry in ENTRIES.values()
        if isinstance(entry, Grid)
        for place in entry.places.values()
        for cell in place.cells
    }
    lines = lines_of(stored_cells([bare_record(Run(cell, 0)) for cell in cells.values()]))
    assert len(lines) == len(cells) > 1000
    assert len({(line.section, line.label, line.op, line.range) for line in lines}) == len(cells)
