"""Stored runs, told and exported: outcomes, weights, formulas, curves; filters; all formats."""

import csv
import json

import pyarrow.parquet
import pytest

from nalm.errors import ArgumentError
from nalm.experiment.bench import Experiment, do_work, make_experiment, make_work
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.local import Local
from nalm.experiment.run import Case
from nalm.experiment.store import Store, StoreError
from nalm.models import ModelSpec
from nalm.report.export import write_runs
from nalm.report.tables import runs_table, sparkline
from nalm.tasks import ArithmeticDataset

pytestmark = pytest.mark.xdist_group("bench")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with runs of two units, one of which is solved."""
    path = tmp_path_factory.mktemp("runs") / "runs.sqlite"
    wanted = make_experiment("single-module", ["nmu"], None, ["1:2", "-2:-1"], seeds=3, iterations=3000)
    with Store(path) as store:
        do_work(make_work(wanted, store, 1), store, Local(1))
    return path


def test_a_run_is_told_with_its_weights_formula_and_curve(path):
    (run,) = described_runs(path, Filter(range=["1:2"], seed=[0]))
    assert (run["model"], run["op"], run["range"], run["seed"]) == ("nmu", "mul", "1:2", 0)
    assert run["outcome"] == "solved"
    assert run["solved_at"] <= run["chosen_step"]
    assert run["test"] < run["threshold"]
    assert run["weights"]["W"] == [[pytest.approx(1, abs=1e-4)] * 2]
    assert run["expression"] == "x1*x2"
    assert run["curve"]["steps"] == [0, 1000, 2000, 3000]
    assert run["curve"]["test"][-1] < run["curve"]["test"][0]


def test_a_run_with_other_sizes_is_told_by_what_it_was_made_with(tmp_path):
    task = ArithmeticDataset("mul", inputs=8, subset_ratio=0.5, overlap_ratio=0.5)
    case = Case(ModelSpec.parse("nau+nmu"), task, 1000, hidden=3)
    experiment = Experiment("arithmetic-dataset", (case,), 1)
    with Store(tmp_path / "runs.sqlite") as store:
        do_work(make_work(experiment, store, 1), store, Local(1))
    (run,) = described_runs(tmp_path / "runs.sqlite", Filter())
    assert run["threshold"] == task.threshold()
    assert [len(row) for row in run["weights"]["0.W"]] == [8, 8, 8]


def test_filters_take_lists_and_other_spellings_of_a_range(path):
    assert len(described_runs(path, Filter())) == 6
    assert len(described_runs(path, Filter(unit=["nmu"], op=["mul"], range=["1.0:2"], seed=[0, 2]))) == 2


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (Filter(unit=["nmuu"]), "Did you mean 'nmu'"),
        (Filter(op=["mull"]), "Did you mean 'mul'"),
        (Filter(range=["1:3=>3:4"]), "`range` must be one of"),
        (Filter(seed=[7]), "`seed` must be one of 0, 1, 2"),
    ],
)
def test_what_is_not_stored_is_refused_with_what_is(path, wanted, hint):
    with pytest.raises(ArgumentError, match=hint):
        described_runs(path, wanted)


def test_a_store_that_does_not_exist_is_not_made(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        described_runs(tmp_path / "none.sqlite", Filter())
    assert not (tmp_path / "none.sqlite").exists()


def test_a_table_has_a_line_for_every_run(path):
    table = runs_table(described_runs(path, Filter()))
    title, heading, rule, *lines = table.text().splitlines()
    assert (title, heading.split()[0], set(rule), len(lines)) == ("6 runs", "unit", {"-"}, 6)


def test_a_curve_falls_and_marks_what_is_not_finite():
    assert sparkline([1.0, 1e-4, 1e-8], width=3) == "█▅▁"
    assert sparkline([1.0, None, 1.0], width=3) == "▁×▁"
    assert sparkline([]) == ""


# -- export --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(path):
    return described_runs(path, Filter(), formulas=False)


def test_json_has_everything(runs, tmp_path):
    write_runs(runs, tmp_path / "a.json", "json")
    assert json.loads((tmp_path / "a.json").read_text()) == {"runs": runs}


def test_csv_has_a_row_a_run_with_curves_as_json(runs, tmp_path):
    write_runs(runs, tmp_path / "a.csv", "csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [run["id"] for run in runs]
    assert json.loads(rows[0]["curve_test"]) == runs[0]["curve"]["test"]
    assert json.loads(rows[0]["weights"]) == runs[0]["weights"]
    assert float(rows[0]["test"]) == runs[0]["test"]


def test_parquet_has_curves_as_lists(runs, tmp_path):
    write_runs(runs, tmp_path / "a.parquet", "parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["seed"] for row in rows] == [run["seed"] for run in runs]
    assert rows[0]["curve_validation"] == runs[0]["curve"]["validation"]


def test_a_failed_export_leaves_the_file_that_was_there(runs, tmp_path):
    path = tmp_path / "a.json"
    path.write_text("before")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_runs([{**runs[0], "test": float("nan")}], path, "json")
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_an_unknown_format_is_refused(runs, tmp_path):
    with pytest.raises(ArgumentError, match="Did you mean 'parquet'"):
        write_runs(runs, tmp_path / "a", "parket")
