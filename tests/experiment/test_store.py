"""The store: what goes in comes out, one command at a time, and nothing foreign is overwritten."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from nalm.experiment.store import BULK, SCHEMA, Record, Store, StoreError


def record(name="a", **changes):
    values = {
        "id": name,
        "task": "single-module",
        "model": "nmu",
        "labels": {"op": "mul", "inputs": 2, "range": "1:2"},
        "seed": 3,
        "iterations": 2000,
        "identity": {"seed": 3},
        "machine": {"torch": "2"},
        "steps": np.array([0, 1000, 2000]),
        "validation": np.array([1.0, np.nan, 1e-300]),
        "test": np.array([2.0, np.inf, 0.1]),
        "chosen": 2,
        "diverged_at": -1,
        "reinitialised": 0,
        "sparsity": 0.25,
        "sparsity_with_gates": None,
        "ideal_validation": 1e-3,
        "ideal_test": None,
        "chosen_parameters": {"0.weight": np.array([[1.0, 0.5]], dtype=np.float32)},
        "final_parameters": {"0.weight": np.array([[1.0, 0.25]], dtype=np.float32)},
        "history_steps": np.array([0, 2000]),
        "history": {"0.weight": np.array([[[0.5, 0.5]], [[1.0, 0.25]]], dtype=np.float32)},
        "computed_at": "2026-01-02T03:04:05+00:00",
        "cost": {"found": "exact", "steps": 12},
        "errors": {"test/wrong": np.array([0.5, 0.25, 0.0])},
    }
    return Record(**{**values, **changes})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.sqlite"


def test_runs_come_in_order_or_as_they_were_stored_and_share_what_is_the_same(path):
    with Store(path) as store:
        store.add([record("b", seed=2), record("a", seed=1), record("c", seed=3)])
        assert [each.seed for each in store.records()] == [1, 2, 3]
        found = list(store.records(ordered=False))
        assert [each.seed for each in found] == [2, 1, 3]
        assert [each.seed for each in store.records(["c", "a"], ordered=False)] == [1, 3]
        assert found[0].identity is found[1].identity


def test_a_record_comes_out_as_it_went_in(path):
    with Store(path) as store:
        store.add([record()])
    with Store(path) as store:
        (found,) = store.records()
    for name, value in vars(record()).items():
        np.testing.assert_equal(getattr(found, name), value)


def test_known_runs_are_told_from_others(path):
    with Store(path) as store:
        store.add([record("a"), record("b")])
        assert store.known(["b", "c"]) == {"b"}
        assert [r.id for r in store.records(["b"])] == ["b"]


def test_all_but_the_curves_may_be_left_out(path):
    with Store(path) as store:
        store.add([record()])
        (found,) = store.records(without=BULK)
    assert found.chosen_parameters == found.identity == found.machine == {}
    assert found.sparsity == 0.25


def test_a_run_that_is_there_is_replaced(path):
    with Store(path) as store:
        store.add([record(chosen=1)])
        store.add([record(chosen=2)])
        assert [r.chosen for r in store.records()] == [2]


def test_all_records_of_a_call_are_stored_or_none(path):
    with Store(path) as store:
        with pytest.raises(StoreError):
            store.add([record("a"), record("b", model=None)])
        assert list(store.records()) == []


def test_a_second_command_is_refused_and_a_later_one_is_not(path):
    with Store(path), pytest.raises(StoreError, match="in use by another command"):
        Store(path)
    Store(path).close()


def test_a_second_command_waits_for_a_second_at_most(path, monkeypatch):
    """It is refused within two; what it waits is told by SQLite, whatever else the machine does."""
    asked = []
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: asked.append(k["timeout"]) or connect(*a, **k))
    for read_only in (False, True):
        with Store(path, read_only=read_only) as store:
            assert store._execute("PRAGMA busy_timeout") == [(1000,)]
    assert asked == [1.0, 1.0]


def test_a_process_that_is_killed_leaves_the_store_whole_and_free(path):
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2]); from test_store import *\n"
        "store = Store(sys.argv[1]); store.add([record('a')]); store._connection.execute('BEGIN IMMEDIATE')\n"
        "store._connection.execute('DELETE FROM runs'); os.kill(os.getpid(), 9)"
    )
    here = os.path.dirname(__file__)
    assert subprocess.run([sys.executable, "-c", code, str(path), here], check=False).returncode == -9
    with Store(path) as store:
        assert [r.id for r in store.records()] == ["a"]


@pytest.mark.parametrize("content", [b"hello", b"SQLite format 3\0" + bytes(200)])
def test_a_file_that_is_no_store_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(StoreError, match="left unchanged"):
        Store(path)
    assert path.read_bytes() == content


def test_a_database_of_someone_else_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a store of nalm"):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_is_refused(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(StoreError, match="newer nalm"):
        Store(path)


OLD_TABLE = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL, task TEXT NOT NULL, model TEXT NOT NULL, op TEXT NOT NULL,
    range TEXT NOT NULL, inputs INTEGER NOT NULL, seed INTEGER NOT NULL, iterations INTEGER NOT NULL,
    identity TEXT NOT NULL, machine TEXT NOT NULL, steps BLOB NOT NULL, validation BLOB NOT NULL,
    test BLOB NOT NULL, chosen INTEGER NOT NULL, diverged_at INTEGER NOT NULL,
    reinitialised INTEGER NOT NULL, sparsity REAL, sparsity_with_gates REAL, ideal_validation REAL,
    ideal_test REAL, chosen_parameters BLOB NOT NULL, final_parameters BLOB NOT NULL,
    history_steps BLOB NOT NULL, history BLOB NOT NULL, computed_at TEXT NOT NULL,
    cost TEXT NOT NULL
)
"""


def make_older(path, version, *columns):
    """Make a store of schema 2 to 4 out of one of today, without these columns."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE runs RENAME TO modern")
        connection.execute(OLD_TABLE)
        names = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
        labels = ("op", "range", "inputs")
        asked = [f"json_extract(labels, '$.{name}')" if name in labels else name for name in names]
        connection.execute(f"INSERT INTO runs SELECT {', '.join(asked)} FROM modern")
        connection.execute("DROP TABLE modern")
        for column in columns:
            connection.execute(f"ALTER TABLE runs DROP COLUMN {column}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()


def test_a_store_of_schema_2_is_brought_up_to_date(path):
    """Runs from before there were times and histories stay, without either."""
    with Store(path) as store:
        store.add([record()])
    make_older(path, 2, "history_steps", "history", "computed_at", "cost")
    for _ in range(2):
        with Store(path) as store:
            (found,) = store.records()
    assert (found.computed_at, found.history, len(found.history_steps)) == ("", {}, 0)
    assert (found.sparsity, found.cost) == (0.25, {})
    with Store(path) as store:
        store.add([record("b")])


def test_a_store_of_schema_3_is_brought_up_to_date(path):
    """Runs from before there was second-order training stay, without its cost."""
    with Store(path) as store:
        store.add([record()])
    make_older(path, 3, "cost")
    with Store(path, read_only=True) as store:
        (found,) = store.records()
    assert found.cost == {}
    with Store(path) as store:
        store.add([record("b")])
        assert [found.cost.get("steps") for found in store.records()] == [None, 12]


def test_a_store_of_schema_4_is_given_checksums(path):
    """Numbers from before there were checksums stay as they are; from then on a change is noticed."""
    with Store(path) as store:
        store.add([record()])
    make_older(path, 4)
    with Store(path) as store:
        (after,) = store.records()
    np.testing.assert_equal(vars(after), vars(record(errors={})))
    change(path, "UPDATE runs SET seed = 4")
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"Run a \(nmu, mul, inputs=2, 1:2, seed 4\) is damaged: curve"),
    ):
        list(store.records())


def change(path, statement):
    """What damage on the disk may do, done by hand."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "identity = '{'",
        "cost = 'x'",
        "history = substr(history, 1, 200) || x'00' || substr(history, 202)",
        "final_parameters = substr(final_parameters, 2)",
        "steps = x'00'",
        "chosen = 3",
        "test = x''",
    ],
)
def test_what_cannot_be_read_in_an_older_store_is_named_before_and_after_the_upgrade(path, statement):
    with Store(path) as store:
        store.add([record(), record("b")])
    make_older(path, 4)
    change(path, f"UPDATE runs SET {statement} WHERE id = 'b'")
    for read_only in (True, False, True):
        with (
            Store(path, read_only=read_only) as store,
            pytest.raises(StoreError, match=r"Run b .* is damaged"),
        ):
            list(store.records())
        with Store(path, read_only=read_only) as store:
            assert [run.id for run in store.records(["a"])] == ["a"]


def test_numbers_come_back_as_sqlite_holds_them_and_are_whole(path):
    """SQLite knows no NaN and no -0.0 among its single numbers; neither is damage."""
    odd = record(
        sparsity=np.float32(0.5), sparsity_with_gates=float("nan"), ideal_validation=-0.0, ideal_test=1
    )
    with Store(path) as store:
        store.add([odd])
        (found,) = store.records()
    assert (found.sparsity, found.sparsity_with_gates) == (0.5, None)
    assert (found.ideal_validation, found.ideal_test) == (0.0, 1.0)


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(path, monkeypatch):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN history")  # the others are there: adding them fails
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreError):
        Store(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert "history" not in {row[1] for row in connection.execute("PRAGMA table_info(runs)")}


def test_reading_changes_nothing_not_even_an_older_store(path):
    with Store(path) as store:
        store.add([record()])
    make_older(path, 2, "computed_at")
    before = path.read_bytes()
    with Store(path, read_only=True) as store:
        (found,) = store.records()
        with pytest.raises(StoreError):
            store.add([record("b")])
    assert (found.computed_at, found.history["0.weight"].shape) == ("", (2, 1, 2))
    assert path.read_bytes() == before


def test_reading_is_refused_while_another_command_writes(path):
    with Store(path), pytest.raises(StoreError, match="in use by another command"):
        Store(path, read_only=True)


def test_several_may_read(path):
    Store(path).close()
    with Store(path, read_only=True) as one, Store(path, read_only=True) as other:
        assert list(one.records()) == list(other.records()) == []


def test_a_store_of_an_unknown_older_version_is_refused(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(StoreError, match="an older nalm"):
        Store(path)


def test_a_damaged_store_is_refused_and_left_alone(path):
    with Store(path) as store:
        store.add([record(str(k)) for k in range(200)])
    content = bytearray(path.read_bytes())
    content[5000:9000] = os.urandom(4000)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        Store(path)
    assert path.read_bytes() == bytes(content)


def test_a_folder_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened or created"):
        Store(tmp_path / "missing" / "runs.sqlite")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 KiB, where the system lets us have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs rights that this user does not have")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_said_and_what_was_stored_stays(small_disk):
    path = small_disk / "runs.sqlite"
    with Store(path) as store:
        store.add([record("small")])
        heavy = record("heavy", chosen_parameters={"w": np.zeros(100_000)})
        with pytest.raises(StoreError, match="the disk is full"):
            store.add([heavy])
    with Store(path) as store:
        assert [r.id for r in store.records()] == ["small"]


def test_a_read_only_disk_is_said(small_disk):
    path = small_disk / "runs.sqlite"
    with Store(path) as store:
        store.add([record()])
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = path.read_bytes()
    for each in (path, small_disk / "new.sqlite"):
        with pytest.raises(StoreError, match="it or its folder is read-only"):
            Store(each)
    assert path.read_bytes() == before
