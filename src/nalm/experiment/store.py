"""The store: one SQLite file with the raw curves and weights of all runs.

One process uses it at a time. Rows are written whole or not at all, so that a process that is killed leaves
a store that can be used again. A file that is not ours, damaged or of an unknown version is refused and left
as it is; a store of version 0.3 to 0.6 is brought up to date when it is opened to be written.
"""

from __future__ import annotations

import functools
import io
import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nalm.errors import NalmError

SCHEMA = 4
_APPLICATION = 0x6E616C6D  # "nalm"
_TABLE = """
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
_ADDED = {
    2: {"history_steps": "BLOB", "history": "BLOB", "computed_at": "TEXT"},
    3: {"cost": "TEXT"},
}
"""Columns, with their types, that the schema after this one has more; in older stores they are empty."""
_EMPTY = {"BLOB": "x''", "TEXT": "''"}


class StoreError(NalmError):
    """A store that cannot be used, in one sentence."""


@dataclass(frozen=True)
class Record:
    """What is kept of a run.

    Attributes:
        id: name of the run, see `Run.id`. task: name of the task. model: the model as it is written on the
        command line. op: the operation. range: the training range as it was asked for. inputs: number of
        inputs. seed: the seed. iterations: steps. identity: all that determines the numbers but the seed.
        machine: versions and processor that computed them. steps: the logged steps. validation, test:
        errors at those steps. chosen: index of the chosen step. diverged_at: first logged step with a
        number that is not finite, or -1. reinitialised: how often the run was given new weights. sparsity:
        largest distance of a weight from {-1, 0, 1} at the chosen step; None for a model without units.
        sparsity_with_gates: the same with gates counted. ideal_validation, ideal_test: errors of ideal
        weights on the run's data, where the task has no threshold of its own. chosen_parameters,
        final_parameters: parameters at the chosen step and after the last, by name. history_steps, history:
        some of the logged steps, and the parameters at those, `points x ...` by name; empty for large
        models. computed_at: when, in ISO 8601. Runs from before version 0.5 have neither. cost: of
        second-order training, what was found and what it took; else empty.
    """

    id: str
    task: str
    model: str
    op: str
    range: str
    inputs: int
    seed: int
    iterations: int
    identity: dict[str, Any]
    machine: dict[str, Any]
    steps: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    chosen: int
    diverged_at: int
    reinitialised: int
    sparsity: float | None
    sparsity_with_gates: float | None
    ideal_validation: float | None
    ideal_test: float | None
    chosen_parameters: dict[str, np.ndarray]
    final_parameters: dict[str, np.ndarray]
    history_steps: np.ndarray
    history: dict[str, np.ndarray]
    computed_at: str
    cost: dict[str, Any]


_COLUMNS = list(Record.__dataclass_fields__)
_ARRAYS = {"steps": np.int64, "history_steps": np.int64, "validation": np.float64, "test": np.float64}
_JSON = ("identity", "machine", "cost")
_WEIGHTS = ("chosen_parameters", "final_parameters", "history")


BULK = ("identity", "machine", *_WEIGHTS)
"""What takes long to read and may be left out: identity, machine, parameters."""


class Store:
    """An open store; a context manager.

    Args:
        path: the file; it is made if it does not exist.
        read_only: change nothing, so that a store that cannot be written can be read.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        try:
            self._connection = self._connect()
            self._connection.execute("PRAGMA busy_timeout = 1000")
            if not self._is_empty():
                self._check()
            elif not read_only:
                self._make()
            if not read_only:
                self._connection.execute("BEGIN IMMEDIATE")  # takes the lock that exclusive mode then keeps
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self.close()
            raise self._refusal(error) from error

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            made = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
            made.execute("PRAGMA locking_mode = EXCLUSIVE")
            return made
        # In a folder where SQLite cannot keep its other files, it must be told that nothing changes.
        fixed = "" if os.access(self.path.parent, os.W_OK) else "&immutable=1"
        address = f"{self.path.resolve().as_uri()}?mode=ro{fixed}"
        return sqlite3.connect(address, uri=True, timeout=1.0, isolation_level=None)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others use the file."""
        if hasattr(self, "_connection"):
            self._connection.close()

    def known(self, ids: Iterable[str]) -> set[str]:
        """Which of these runs are stored."""
        wanted = set(ids)
        rows = self._execute("SELECT id FROM runs")
        return wanted & {row[0] for row in rows}

    def add(self, records: Iterable[Record]) -> None:
        """Store runs, all of them or none; a run that is there is replaced."""
        rows = [[_encode(name, getattr(record, name)) for name in _COLUMNS] for record in records]
        marks = ", ".join("?" * len(_COLUMNS))
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                f"INSERT OR REPLACE INTO runs ({', '.join(_COLUMNS)}) VALUES ({marks})", rows
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise self._refusal(error) from error

    def records(
        self, ids: Iterable[str] | None = None, *, without: Collection[str] = (), ordered: bool = True
    ) -> Iterator[Record]:
        """The stored runs, or those of these names, in the order of their models, operations and seeds.

        Args:
            ids: names of runs.
            without: which of `BULK` to leave empty; reading them takes most of the time.
            ordered: False for the order in which they were stored, in which a large store is read fastest.
        """
        held = {row[1] for row in self._execute("PRAGMA table_info(runs)")}
        if not held:  # nothing was ever put in
            return
        empty = {**dict.fromkeys(without, _EMPTY["BLOB"]), **self._absent(held)}
        names = [f"{empty[name]} AS {name}" if name in empty else name for name in _COLUMNS]
        where = "" if ids is None else "WHERE id IN (SELECT id FROM temp.wanted)"
        order = "task, model, op, inputs, range, iterations, seed" if ordered else "rowid"
        if ids is not None:
            self._want(ids)
        # Places are put in order, not rows: those may be gigabytes, and are read one by one.
        places = self._execute(f"SELECT rowid FROM runs {where} ORDER BY {order}")
        statement = f"SELECT {', '.join(names)} FROM runs WHERE rowid = ?"
        for place in places:
            (row,) = self._execute(statement, place)
            yield Record(*(_decode(name, value) for name, value in zip(_COLUMNS, row)))

    def _absent(self, held: Collection[str]) -> dict[str, str]:
        """What stands for the columns that an older store has not."""
        added = {name: kind for columns in _ADDED.values() for name, kind in columns.items()}
        return {name: _EMPTY[kind] for name, kind in added.items() if name not in held}

    def _want(self, ids: Iterable[str]) -> None:
        """Put names into a table of this connection, where a query of any length finds them."""
        self._execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id TEXT PRIMARY KEY)")
        self._execute("DELETE FROM temp.wanted")
        self._connection.executemany("INSERT OR IGNORE INTO temp.wanted VALUES (?)", [(i,) for i in ids])

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _is_empty(self) -> bool:
        """Whether nothing was ever put in: a new file, or one whose maker was killed on the way."""
        (things,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        return not things and not application

    def _make(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
        self._connection.execute(_TABLE)
        self._connection.execute("COMMIT")

    def _check(self) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            self.close()
            raise StoreError(f"{self.path} is not a store of nalm; it was left as it is.")
        if version not in (SCHEMA, *_ADDED):
            self.close()
            age = "a newer" if version > SCHEMA else "an older"
            made = f"{self.path} was made by {age} nalm (schema {version}, this one uses {SCHEMA})"
            raise StoreError(f"{made}; it was left as it is.")
        (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        if version != SCHEMA and not self.read_only:
            self._upgrade(version)

    def _upgrade(self, version: int) -> None:
        """Make a store of this schema out of an older one, all at once."""
        self._connection.execute("BEGIN IMMEDIATE")
        for step in range(version, SCHEMA):
            for name, kind in _ADDED[step].items():
                column = f"{name} {kind} NOT NULL DEFAULT {_EMPTY[kind]}"
                self._connection.execute(f"ALTER TABLE runs ADD COLUMN {column}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
        self._connection.execute("COMMIT")

    def _is_read_only(self) -> bool:
        """Whether the file or its folder, where SQLite keeps more files, exists but cannot be written."""
        return any(p.exists() and not os.access(p, os.W_OK) for p in (self.path, self.path.parent))

    def _refusal(self, error: sqlite3.Error) -> StoreError:
        text = " ".join(str(error).split())
        if "locked" in text or "busy" in text:
            return StoreError(
                f"{self.path} is in use by another command; wait for it or use another --store."
            )
        if "not a database" in text:
            return StoreError(f"{self.path} is not a store of nalm; it was left as it is.")
        if "readonly" in text or self._is_read_only():
            return StoreError(f"{self.path} cannot be written: it or its folder is read-only.")
        if "full" in text:
            return StoreError(
                f"{self.path} cannot be written: the disk is full. What was stored before is whole."
            )
        if "unable to open" in text:
            return StoreError(f"{self.path} cannot be opened or made.")
        return StoreError(f"{self.path} is damaged ({text}); it was left as it is.")


def _encode(name: str, value: Any) -> Any:
    if name in _ARRAYS:
        return np.asarray(value, dtype=_ARRAYS[name]).tobytes()
    if name in _JSON:
        return json.dumps(value, sort_keys=True)
    if name in _WEIGHTS:
        buffer = io.BytesIO()
        np.savez(buffer, **value)
        return buffer.getvalue()
    return value


def _decode(name: str, value: Any) -> Any:
    if name in _ARRAYS:
        return np.frombuffer(value, dtype=_ARRAYS[name])
    if name in (*_JSON, *_WEIGHTS) and not value:
        return {}
    if name in _JSON:
        return _loads(value)
    if name in _WEIGHTS:
        with np.load(io.BytesIO(value)) as held:
            return dict(held)
    return value


@functools.lru_cache(maxsize=4096)
def _loads(text: str) -> Any:
    """The same object for the same text: thousands of runs share theirs, and nobody changes it."""
    return json.loads(text)
