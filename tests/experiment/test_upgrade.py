"""Stores of earlier versions: numbers stay as they are, names become those of today."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nalm.experiment.bench import make_experiment, make_work
from nalm.experiment.check import check_store
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Store
from nalm.experiment.upgrade import modern_identity, recipe_of_text
from nalm.models import ModelSpec
from nalm.tasks import ArithmeticDataset, SingleModule, TenParameters
from nalm.units import UNITS


def written_in_08(case):
    """What determined a run up to version 0.8: the recipe as Python prints it, the task not by itself."""
    today = dict(case.identity)
    task = dict(today.pop("task"))
    del today["format"]
    if case.task.name == "arithmetic-dataset":
        task = {"subset_ratio": case.task.subset_ratio, "overlap_ratio": case.task.overlap_ratio, **task}
    return {**today, "task": task.pop("name"), **task, "recipe": repr(case.recipe)}


def cases():
    for name, unit in UNITS.items():
        for op in unit.ops:
            if op in SingleModule.ops:
                for recipe in unit.all_recipes():
                    yield Case(ModelSpec.parse(f"{name}@{recipe}"), SingleModule(op, "mixed-1", 10))
    yield Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"), hidden=3)
    yield Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul", subset_ratio=0.1))
    yield Case(ModelSpec.parse("nmu"), TenParameters(), iterations=100)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.model}-{case.task.op}")
def test_an_older_identity_becomes_that_of_today(case):
    assert modern_identity(written_in_08(case)) == case.identity


def test_a_run_judged_by_the_first_rule_for_exact_keeps_it():
    first = "Recipe(optimiser=LevenbergMarquardt(starts=4, grow=True), clamps=(), iterations=100)"
    assert recipe_of_text(first)["optimiser"] == {"kind": "LevenbergMarquardt", "rule": 1}
    second = first.replace("grow=True", "grow=True, rule=2")
    assert recipe_of_text(second)["optimiser"] == {"kind": "LevenbergMarquardt"}


def test_what_was_never_a_run_of_ours_is_left_alone():
    assert modern_identity({"seed": 3}) == {"seed": 3}


DATA = Path(__file__).parent / "data"
OLD = ("0.7", "0.8")


@pytest.fixture(params=OLD)
def older(request, tmp_path):
    """A store that this version of nalm has made."""
    return Path(shutil.copy(DATA / f"runs-{request.param}.sqlite", tmp_path / "runs.sqlite"))


def found_in(path):
    runs = described_runs(path, Filter())
    names = ("model", "op", "range", "inputs", "seed", "iterations", "chosen_step", "validation", "test")
    kept = (*names, "weights", "curve")
    return sorted(({name: run[name] for name in kept} for run in runs), key=json.dumps)


def expected(path):
    version = "0.7" if "0.7" in machines(path) else "0.8"
    return sorted(json.loads((DATA / f"runs-{version}.json").read_text()), key=json.dumps)


def machines(path):
    with Store(path, read_only=True) as store:
        return {record.machine["nalm"].removesuffix(".0") for record in store.records()}


def test_numbers_of_a_store_of_an_earlier_version_stay(older):
    numbers = expected(older)
    before = older.read_bytes()
    assert found_in(older) == numbers  # read as it is
    assert older.read_bytes() == before
    Store(older).close()
    assert found_in(older) == numbers  # brought over
    (copy,) = older.parent.glob("runs.sqlite.schema-*")
    assert not check_store(older).damaged
    with closing(sqlite3.connect(older)) as new, closing(sqlite3.connect(copy)) as old:
        for column in ("seed", "steps", "validation", "test", "chosen_parameters", "history", "cost"):
            rows = [
                each.execute(f"SELECT {column} FROM runs ORDER BY rowid").fetchall() for each in (old, new)
            ]
            assert rows[0] == rows[1]


def test_what_is_stored_is_not_computed_again_while_numbers_are_the_same(older, monkeypatch):
    """Second-order runs of 0.7 are: they were judged by an earlier rule."""
    rule = 2 if "0.8" in machines(older) else 1
    with Store(older, read_only=True) as store:
        (numerics,) = {record.identity["numerics_version"] for record in store.records()}
    monkeypatch.setattr("nalm.experiment.run.NUMERICS_VERSION", numerics)
    wanted = [
        (make_experiment("single-module", ["nmru"], ["div"], ["-50:50"], inputs=10, seeds=2,
                         recipe="second-order"), 0 if rule == 2 else 2),
        (make_experiment("single-module", ["nalu(shared=false)"], ["mul"], ["1:2", "mixed-1"], seeds=2,
                         iterations=1000), 0),
        (make_experiment("single-module", ["nmu", "realnpu@modified"], ["mul"], ["1:2", "mixed-1"], seeds=2,
                         iterations=1000, schedule="published" if rule == 1 else "scaled"), 0),
    ]  # fmt: skip
    with Store(older) as store:
        assert [make_work(experiment, store, 1).missing for experiment, _ in wanted] == [n for _, n in wanted]


def test_an_interrupted_upgrade_leaves_the_store_as_it_was(older, monkeypatch):
    numbers = expected(older)

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("nalm.experiment.store.bring_over", stop)
    with pytest.raises(KeyboardInterrupt):
        Store(older)
    monkeypatch.undo()
    assert found_in(older) == numbers
    Store(older).close()
    assert found_in(older) == numbers
