"""The table of a task with facets: one line per model, one column per length or way to count."""

import numpy as np
import pytest
from made_runs import bare_record

from nalm.experiment.bench import make_experiment
from nalm.experiment.rows import evaluate
from nalm.experiment.store import Store
from nalm.report import tables


def errors_of(task, seed):
    """Made errors of every facet, better with every seed."""
    logs = 51
    shapes = {f"test/{measure.name}": (*measure.shape, logs) for measure in task.measures}
    wanted = {facet.curve for facet in task.facets()}
    return {name: np.full(shape, 0.5 / (1 + seed)) for name, shape in shapes.items() if name in wanted}


def table_of(path, task, models, ops=None, threshold=None, seeds=3):
    made = make_experiment(task, models, ops, seeds=seeds, scale="quick")
    with Store(path) as store:
        store.add([bare_record(run, errors=errors_of(run.case.task, run.seed)) for run in made.runs()])
        rows = list(evaluate(made, store, threshold))
    return tables.bench_table({"task": task, "rows": rows, "summary": [], "notes": []})


def named(table):
    return [column.name for column in table.columns]


def test_lengths_are_columns_and_models_are_lines(tmp_path):
    table = table_of(tmp_path / "runs.sqlite", "mnist-sequential", ["nmu"], ["mul"])
    assert named(table)[3:] == [f"length {n}" for n in range(1, 21)]
    assert [row[:3] for row in table.rows] == [
        ["nmu", "mul, quick", "3"],
        ["mul (reference)", "mul, quick", "3"],
    ]
    assert {cell for row in table.rows for cell in row[3:]} == {"3 of 3"}
    assert "the model whose arithmetic is solved" in table.title


def test_operations_with_other_lengths_are_in_one_table(tmp_path):
    table = table_of(tmp_path / "runs.sqlite", "mnist-sequential", ["nmu", "nau"])
    assert sorted(row[0] for row in table.rows) == ["add (reference)", "mul (reference)", "nau", "nmu"]
    place = named(table).index("length 1000")
    cells = {row[0]: row[place] for row in table.rows}
    assert cells["nau"] == "3 of 3"
    assert cells["nmu"] in ("", "-")  # products are not that long


def test_a_threshold_that_was_given_is_not_that_of_a_model(tmp_path):
    table = table_of(tmp_path / "runs.sqlite", "mnist-sequential", ["nmu"], ["mul"], threshold=0.3)
    assert {cell for row in table.rows for cell in row[3:]} == {"2 of 3"}
    assert "the model whose arithmetic is solved" not in table.title


@pytest.mark.parametrize(
    ("task", "model", "op"),
    [("mnist-isolated", "nmu", "mul"), ("mnist-colour", "nmu", "mul"), ("mnist-comparison", "nsr", "gt")],
)
def test_shares_of_wrong_results_are_shown_as_accuracies(task, model, op, tmp_path):
    table = table_of(tmp_path / "runs.sqlite", task, [model], [op])
    assert table.title == f"{task}: accuracy, median over runs"
    assert {cell for row in table.rows for cell in row[3:]} == {"75.0%"}  # 1 - the median of 1/2, 1/4, 1/6


def test_without_a_threshold_errors_are_shown(tmp_path):
    table = table_of(tmp_path / "runs.sqlite", "mnist-series", ["nac"], ["add"])
    assert table.title == "mnist-series: mae by length, median over runs"
    assert named(table)[3:] == ["length 1", "length 10", "length 100", "length 1000"]
    assert table.rows[0][3:] == ["0.25"] * 4


@pytest.mark.parametrize("columns", [80, 120])
def test_a_table_fits_a_terminal(columns, tmp_path):
    text = table_of(tmp_path / "runs.sqlite", "mnist-sequential", ["nmu"], ["mul"]).text(columns)
    assert max(map(len, text.splitlines())) <= columns
    assert text.count("3 of 3") == 40
