"""What workers do, in this process: training, fitting, reading."""

import math

import pytest
from made_runs import fill

from nalm.errors import NalmError
from nalm.experiment.bench import make_experiment
from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.play.asked import Columns, Fitting, Ledger, LedgerEntry, StoredRun, StoredRuns, Training
from nalm.play.fits import columns, fit
from nalm.play.readings import ledger, ledger_entry, stored_run, stored_runs
from nalm.play.trainings import choices, train


class Told:
    """What a page is told."""

    def __init__(self):
        self.messages = []

    def __call__(self, kind, what):
        self.messages.append((kind, what))

    def of(self, kind):
        return [what for each, what in self.messages if each == kind]


def test_training_tells_errors_weights_and_formulas_and_ends_with_a_verdict():
    told = Told()
    answer = train(Training(seeds=2, first_seed=3, steps=2000, is_slowed=False), told)
    (begun,) = told.of("begun")
    assert begun["seeds"] == [3, 4]
    points = told.of("point")
    assert [point["step"] for point in points] == list(range(0, 2001, 20))
    assert all(len(point["test"]) == 2 and len(point["weights"]["W"]) == 2 for point in points)
    assert {run for point in points for run in point["formulas"]} == {0, 1}
    assert [run["seed"] for run in answer["runs"]] == [3, 4]
    for run in answer["runs"]:
        assert (run["outcome"] == "solved") == (run["test"] < begun["below"])


def test_it_trains_what_a_benchmark_trains():
    told = Told()
    train(Training(unit="nau", op="add", seeds=1, steps=1000, is_slowed=False), told)
    bench = make_experiment("single-module", ["nau"], ["add"], ["1:2"], inputs=2, seeds=1, iterations=1000)
    (record,) = compute(Chunk(tuple(bench.runs())))
    assert told.of("point")[-1]["test"][0] == record.test[-1]


def test_close_to_zero_runs_are_judged_by_ideal_weights():
    answer = train(
        Training(unit="realnpu", op="div", range="0:1", seeds=1, steps=20, is_slowed=False), Told()
    )
    assert answer["runs"][0]["outcome"] in ("solved", "not_converged", "not_extrapolating")


def test_second_order_shows_its_steps_too():
    told = Told()
    answer = train(Training(recipe="second-order", seeds=2, is_slowed=False), told)
    assert {point["first"] for point in told.of("point")} == {0, 1}
    assert [run["formula"]["text"] for run in answer["runs"]] == ["x1*x2"] * 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"unit": "./mine.py:Unit"}, "unit"),
        ({"unit": "nmu+nmu"}, "unit"),
        ({"unit": "nmv"}, "Did you mean 'nmu'"),
        ({"recipe": "publishd"}, "Did you mean 'published'"),
        ({"op": "div"}, "div"),
        ({"range": "1:0=>2:3"}, "range"),
        ({"range": "7:8"}, "range"),
    ],
)
def test_names_that_the_form_does_not_have_are_refused(change, said):
    with pytest.raises(NalmError, match=said):
        train(Training(**change), Told())


def test_every_choice_can_be_asked_for():
    offered = choices()
    assert Training().unit in offered["units"]
    assert Training().op in offered["ops"]
    assert Training().range in offered["ranges"]
    assert all(set(unit["ops"]) & set(offered["ops"]) for unit in offered["units"].values())


ROWS = "a,b,y\n" + "".join(f"{a},{b},{a * b + a}\n" for a in range(1, 8) for b in range(1, 8))


def test_the_formula_of_rows_is_found_and_better_ones_are_told(tmp_path):
    told = Told()
    asked = Fitting(ROWS.encode(), tmp_path, target="y", seconds=20)
    answer = fit(asked, told)
    assert answer["verdict"] == "exact"
    assert answer["expression"].replace(" ", "") in ("a*(b+1)", "a*b+a")
    errors = [point["error"] for point in told.of("point") if "error" in point]
    assert errors == sorted(errors, reverse=True)
    assert errors
    assert all(math.isclose(true, given) for true, given in answer["pairs"])
    assert list(tmp_path.rglob("*.csv")) == []


def test_columns_are_named(tmp_path):
    assert columns(Columns(ROWS.encode(), tmp_path), Told())["names"] == ["a", "b", "y"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,b\n1,2\n3,4\n", "y"),
        ("a,y\n1,2\n", "row"),
        ("\x00\x01\x02", "y"),
        (",".join(f"c{k}" for k in range(60)) + "\n" + ",".join("1" for _ in range(60)), "columns"),
    ],
)
def test_rows_that_cannot_be_used_are_refused_by_their_own_name(tmp_path, rows, said):
    with pytest.raises(NalmError, match=said) as caught:
        fit(Fitting(rows.encode(), tmp_path, "your rows", target="y"), Told())
    assert str(tmp_path) not in str(caught.value)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "runs.sqlite"
    fill(path, make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=2), lambda run: run.seed < 1)
    return path


def test_stored_runs_are_listed_and_described(store):
    found = stored_runs(StoredRuns(store), Told())
    assert found["total"] == 2
    assert [run["outcome"] for run in found["runs"]] == ["solved", "not_converged"]
    run = stored_run(StoredRun(store, found["runs"][0]["id"]), Told())
    assert run["expression"] == "x1*x2"
    assert len(run["history"]["W"]) == len(run["history_steps"])


def test_a_store_that_is_not_there_has_no_runs(tmp_path):
    assert stored_runs(StoredRuns(tmp_path / "none.sqlite"), Told())["total"] == 0
    assert not (tmp_path / "none.sqlite").exists()


def test_a_run_that_is_not_stored_is_refused(store):
    with pytest.raises(NalmError, match="run"):
        stored_run(StoredRun(store, "nothing"), Told())


def test_the_ledger_has_entries_and_cells():
    entries = ledger(Ledger(), Told())["entries"]
    kept = next(entry for entry in entries if entry["cells"])
    found = ledger_entry(LedgerEntry(kept["id"]), Told())
    assert len(found["cells"]) == kept["cells"]
    with pytest.raises(NalmError, match="id"):
        ledger_entry(LedgerEntry("../nothing"), Told())
