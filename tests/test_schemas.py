"""The JSON of every command is what the schemas in the documentation say."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest
from made_runs import fill
from typer.testing import CliRunner

from nalm.cli import app
from nalm.experiment.bench import make_experiment
from nalm.units import UNITS

pytestmark = pytest.mark.xdist_group("bench")
SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"
BENCH = ["bench", "single-module", "--units", "nmu", "--seeds", "2", "--iterations", "1000", "--jobs", "1"]


def check(name, *arguments, code=0):
    result = CliRunner().invoke(app, [*arguments, "--json", "-"])
    assert result.exit_code == code, result.output
    data = json.loads(result.stdout)
    jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text())).validate(data)
    return data


def test_list():
    assert set(check("list", "list")) == {"units", "tasks", "ranges", "papers"}


@pytest.mark.parametrize("unit", UNITS)
def test_show(unit):
    check("show", "show", unit)


def test_doctor():
    check("doctor", "doctor")


def test_bench_and_its_plan_and_runs(tmp_path):
    store = ["--store", str(tmp_path / "runs.sqlite")]
    assert check("plan", *BENCH, *store, "--dry-run")["computed_runs"] == 18
    assert not (tmp_path / "runs.sqlite").exists()
    result = check("bench", *BENCH, *store)
    assert (len(result["rows"]), result["computed_runs"]) == (9, 18)
    assert check("plan", *BENCH, *store, "--dry-run")["computed_runs"] == 0
    assert len(check("runs", "runs", *store)["runs"]) == 18


def test_a_check_of_a_store(tmp_path):
    path = tmp_path / "runs.sqlite"
    fill(path, make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=3))
    words = ["runs", "--check", "--store", str(path)]
    assert check("check", *words)["whole"] == 3
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET machine = '{}' WHERE seed = 2")
    found = check("check", *words, code=1)
    assert [(run["about"], run["parts"]) for run in found["damaged"]] == [
        ("nmu, mul, inputs=2, 1:2, seed 2", ["machine"])
    ]
    assert check("check", *words, "--repair")["repaired"] is True
    assert check("check", *words)["runs"] == 2


def test_second_order_rows_and_runs(tmp_path):
    arguments = [
        "--units",
        "nmu",
        "--recipe",
        "second-order",
        "--ranges",
        "1:2",
        "--seeds",
        "2",
        "--jobs",
        "1",
    ]
    store = ["--store", str(tmp_path / "runs.sqlite")]
    (row,) = check("bench", "bench", "single-module", *arguments, *store)["rows"]
    assert row["second_order"]["found"] == {"exact": 2, "discrete": 0, "approximate": 0, "failed": 0}
    assert row["success"]["rate"] == 1
    assert [run["cost"]["found"] for run in check("runs", "runs", *store)["runs"]] == ["exact", "exact"]


TABLE = Path(__file__).parents[1] / "examples" / "kinetic_energy.csv"


def test_fit_of_one_target_and_of_several(tmp_path):
    pytest.importorskip("sklearn")
    words = ["fit", str(TABLE), "--seed", "0", "--features", "mass,velocity"]
    assert check("fit", *words, "--target", "energy")["expression"] == "mass*velocity**2/2"
    table = tmp_path / "data.csv"
    table.write_text(
        "a,b,sum,product\n" + "\n".join(f"{a},{b},{a + b},{a * b}" for a in range(2, 8) for b in (1, 3, 8))
    )
    found = check("fit", "fit", str(table), "--target", "sum,product", "--max-seconds", "20")["targets"]
    assert {name: one["expression"] for name, one in found.items()} == {"sum": "a + b", "product": "a*b"}


def test_fit_without_a_formula(tmp_path):
    pytest.importorskip("sklearn")
    table = tmp_path / "data.csv"
    table.write_text("a,y\n" + "\n".join(f"{k},{(k * 7919 + 13) % 101}" for k in range(60)))
    found = check("fit", "fit", str(table), "--target", "y", "--max-seconds", "5", code=1)
    assert (found["expression"], found["verdict"]) == (None, "none")


def test_a_schema_refuses_what_is_missing():
    schema = json.loads((SCHEMAS / "doctor.schema.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"nalm": "1"}, schema)


def test_gallery(tmp_path):
    found = check("gallery", "gallery", "--only", "success-add", "-o", str(tmp_path))
    assert [picture["files"] for picture in found["pictures"]] == [["success-add.png", "success-add.svg"]]
