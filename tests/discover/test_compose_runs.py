"""Runs by search: stored, judged and resumed like any others."""

import json

import pytest
from typer.testing import CliRunner

import nalm
from nalm.cli import app
from nalm.errors import ArgumentError
from nalm.models import Composer
from nalm.recipes import Recipe
from nalm.tasks import Composition, SingleModule
from nalm.training.trainers import train_runs, trainer_of

SEARCH = Recipe(by="compose", clamps=(), iterations=1)


def test_a_run_finds_its_expression_and_holds_outside():
    tasks = [Composition("add-mul"), Composition("div-div")]
    result = train_runs(Composer(4, 1, steps=2), tasks, [SEARCH] * 2, [0, 1])
    for k, task in enumerate(tasks):
        assert float(result.test[k, 0]) < task.threshold()
        assert task.is_solution(nalm.explain(result.model_of(k), task.input_names).expressions[0])
    assert [cost["found"] for cost in result.costs] == ["exact", "exact"]


def test_a_run_depends_on_its_seed_alone():
    task = Composition("3-step-4")
    alone = train_runs(Composer(6, 1, steps=3), [task], [SEARCH], [3])
    together = train_runs(Composer(6, 1, steps=3), [task] * 3, [SEARCH] * 3, [1, 2, 3])
    for name, value in alone.chosen_parameters.items():
        assert (together.chosen_parameters[name][2] == value[0]).all()


def test_an_expression_of_more_steps_than_there_are_is_not_found_and_not_solved():
    result = train_runs(Composer(6, 1, steps=1), [Composition("3-step-1")], [SEARCH], [0])
    assert float(result.test[0, 0]) > Composition("3-step-1").threshold()


def test_it_also_finds_single_operations():
    result = train_runs(Composer(2, 1, steps=1), [SingleModule("div", "-2:2")], [SEARCH], [0])
    assert str(nalm.explain(result.model_of(0), ["a", "b"])) == "a/b"


def test_other_models_are_refused():
    with pytest.raises(ArgumentError, match="composer"):
        trainer_of(SEARCH).check(nalm.NAU(4, 1), Composition("add-mul"))


def bench(store, *options):
    told = ["bench", "composition", "--store", str(store), "--jobs", "1", "--json", "-", *options]
    done = CliRunner().invoke(app, told)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_benchmark_says_which_formulas_were_found(tmp_path):
    result = bench(tmp_path / "runs.sqlite", "--op", "add-mul,3-step:2", "--seeds", "2")
    rows = result["rows"]
    assert [row["labels"]["expression"] for row in rows] == ["c*(a + b)", "(2*a - b)**2", "a/(b*d) - e"]
    assert rows[0]["found"] == {"c*(a + b)": 2}
    assert all(row["equal"] == 2 and row["success"]["rate"] == 1 for row in rows)
    again = bench(tmp_path / "runs.sqlite", "--op", "add-mul,3-step:2", "--seeds", "2")
    assert (again["computed_runs"], again["stored_runs"]) == (0, 6)
    assert again["rows"] == rows


def test_a_trained_network_is_counted_among_those_that_cannot_be_read(tmp_path):
    options = ("--op", "add-mul", "--units", "nau+nmu", "--seeds", "2", "--iterations", "100")
    (row,) = bench(tmp_path / "runs.sqlite", *options)["rows"]
    assert row["found"] == {"not readable": 2}
    assert row["equal"] == 0
