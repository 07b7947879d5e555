"""The store: one SQLite file with the raw curves and weights of all runs.

One process uses it at a time. Rows are written completely or not at all, so that a process that is killed
leaves a usable store. Every row has checksums, so that a run that was damaged on the disk is reported by name
instead of read. A file that is no store, damaged or of an unknown version is refused and left unchanged; a
store of version 0.3 to 0.8 is upgraded when it is first opened for writing, and a copy is kept next to it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from nalm.experiment import answers
from nalm.experiment.record import (
    BULK,
    COLUMNS,
    PARTS,
    Damage,
    Record,
    damaged_parts,
    decoded,
    encoded,
)
from nalm.experiment.store_error import StoreError, damaged, refusal
from nalm.experiment.store_file import APPLICATION, SCHEMA, TABLE, connect, is_empty
from nalm.experiment.upgrade import FIRST_WITH_CHECKSUMS, OLDEST, bring_over

__all__ = ["BULK", "SCHEMA", "Record", "Store", "StoreError"]

_HELD = (*COLUMNS, "checksums")
_ORDER = "task, model, labels, iterations, seed"
_WANTED = "WHERE id IN (SELECT id FROM temp.wanted)"
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises; the text of SQLite's error may itself contain invalid UTF-8."""
_MOST_FAULTS = 20


class Store:
    """An open store; a context manager.

    Args:
        path: the file; it is created if it does not exist.
        read_only: change nothing, so that a store that cannot be written can be read.
        damaged: open the store even if it is damaged, to check or repair it.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False, damaged: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._more = f"`nalm runs --check --store {path}` lists all damage and says how to repair it."
        self._schema = SCHEMA  # that of the file
        self._more_space: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._connection = connect(self.path, read_only=read_only)
            self._connection.execute("PRAGMA busy_timeout = 1000")
            self._has_runs = not is_empty(self._connection)
            if self._has_runs:
                self._check(even_damaged=damaged)
            elif not read_only:
                self._make()
            if not read_only:
                self._connection.execute("BEGIN IMMEDIATE")  # takes the lock that exclusive mode then keeps
                self._connection.execute("COMMIT")
        except _FAULTS as error:
            self.close()
            raise self._refusal(error) from error
        except BaseException:  # including an interruption: otherwise the file would stay locked
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, so that other processes can use it."""
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._more_space is not None:
            self._more_space.cleanup()

    def count(self) -> int:
        """The number of stored runs."""
        return len(self._places(ordered=False))

    def known(self, ids: Iterable[str]) -> set[str]:
        """Which of these runs are stored; a damaged curve is an error, before any other run is computed."""
        found = set(ids) & {row[0] for row in self._execute("SELECT id FROM runs")}
        self._want(found)
        if any(damaged_parts(values, BULK) for values in self._all_rows(BULK, _WANTED)):
            for _ in self._whole(self._rows(found, BULK), BULK):  # the error names the first in order
                pass
        return found

    def add(self, records: Iterable[Record]) -> None:
        """Store runs, all of them or none; runs that are already stored are replaced."""
        rows = [encoded(record) for record in records]
        marks = ", ".join("?" * len(_HELD))
        with self._changing() as connection:
            connection.executemany(f"INSERT OR REPLACE INTO runs ({', '.join(_HELD)}) VALUES ({marks})", rows)

    def records(
        self, ids: Iterable[str] | None = None, *, without: Collection[str] = (), ordered: bool = True
    ) -> Iterator[Record]:
        """All stored runs, or those named, sorted by task, model, labels, steps and seed.

        They are read one by one; a run that is damaged in a part that is read is an error that names it.

        Args:
            ids: names of runs.
            without: columns of `BULK` to leave empty; reading them takes most of the time.
            ordered: False to read all runs in the order of storing, which is much faster in a large store.
        """
        rows = self._rows(ids, without) if ordered or ids is not None else self._all_rows(without)
        for values in self._whole(rows, without):
            yield decoded(values)

    # -- remembered answers ------------------------------------------------------------------------

    def state(self, ids: Iterable[str]) -> str:
        """A digest of the checksums of these runs: it differs if one is missing or was stored anew."""
        self._want(ids)
        held = self._execute(f"SELECT id, checksums FROM runs {_WANTED} ORDER BY id")
        return hashlib.sha256(repr(held).encode("utf-8", "surrogatepass")).hexdigest()

    def answer(self, request: str) -> bytes | None:
        """The answer that was kept for a request, or None."""
        try:
            return answers.find(self._connection, request)
        except _FAULTS as error:
            raise self._refusal(error) from error

    def keep_answer(self, request: str, answer: bytes) -> None:
        """Keep an answer for a request."""
        with self._changing() as connection:
            answers.keep(connection, request, answer)

    # -- damage ----------------------------------------------------------------------------------

    @property
    def has_checksums(self) -> bool:
        """Whether changed numbers can be noticed: not in a store of version 0.7 or earlier."""
        return self._schema >= FIRST_WITH_CHECKSUMS

    def faults(self) -> list[str]:
        """What is wrong with the file as a whole, in SQLite's words."""
        try:
            found = self._execute(f"PRAGMA integrity_check({_MOST_FAULTS})")
        except StoreError as error:
            return [str(error)]
        return [str(text) for (text,) in found if text != "ok"]

    def damage(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Damage]:
        """All runs that are damaged in any part.

        Args:
            on_progress: called with the number of runs checked and the number of all runs.
        """
        places, statement = self._places(ordered=False), self._select()
        for done, place in enumerate(places, start=1):
            try:
                values: Mapping[str, Any] = self._row(place, statement)
                parts = damaged_parts(values)
            except StoreError:  # not even its bytes can be read
                values, parts = {}, list(PARTS)
            if parts:
                yield Damage.of(values, parts, place)
            on_progress(done, len(places))

    def remove(self, damaged: Iterable[Damage]) -> None:
        """Remove damaged runs, after rebuilding the index of names from the runs themselves.

        Answers are forgotten, because their part of the file may be what is damaged.
        """
        with self._changing() as connection:
            answers.forget(connection)
            connection.execute("REINDEX")  # a run whose name is not in the index cannot be removed
            connection.executemany("DELETE FROM runs WHERE rowid = ?", [(each.place,) for each in damaged])

    # -- rows ------------------------------------------------------------------------------------

    def _places(self, ids: Iterable[str] | None = None, *, ordered: bool = True) -> list[int]:
        """The row ids of the runs, with which rows are fetched one by one, so that few are in memory."""
        if not self._has_runs:
            return []
        if ids is not None:
            self._want(ids)
        where = "" if ids is None else _WANTED
        order = _ORDER if ordered else "rowid"
        return [row[0] for row in self._execute(f"SELECT rowid FROM runs {where} ORDER BY {order}")]

    def _whole(self, rows: Iterator[dict[str, Any]], without: Collection[str]) -> Iterator[dict[str, Any]]:
        """The same rows; a row that is damaged in a part that was read is an error."""
        for values in rows:
            if parts := damaged_parts(values, without):
                raise StoreError(f"{self.path}: {Damage.of(values, parts)} {self._more}")
            yield values

    def _rows(self, ids: Iterable[str] | None, without: Collection[str]) -> Iterator[dict[str, Any]]:
        """Rows in order, fetched one by one."""
        statement = self._select(without)
        for place in self._places(ids):
            yield self._row(place, statement)

    def _all_rows(self, without: Collection[str], where: str = "") -> Iterator[dict[str, Any]]:
        """All rows in the order of storing, or those that a condition selects, by a single query."""
        if not self._has_runs:
            return
        statement, read = self._select(without, where), 0
        try:
            for row in self._connection.execute(statement):
                yield dict(zip(_HELD, row))
                read += 1
        except _FAULTS as error:
            if not self._take_any_text(error):
                raise self._refusal(error) from error
            for row in islice(self._execute(statement), read, None):
                yield dict(zip(_HELD, row))

    def _select(self, without: Collection[str] = (), where: str = "WHERE rowid = ?") -> str:
        """The query for a row; columns in `without` are empty."""
        empty = dict.fromkeys(without, "x''")
        return f"SELECT {', '.join(empty.get(name, name) for name in _HELD)} FROM runs {where}"

    def _row(self, place: int, statement: str) -> dict[str, Any]:
        """A row, intact or damaged."""
        found = self._execute(statement, (place,))
        if not found:
            raise self._refusal(sqlite3.DatabaseError(f"row {place} is missing"))
        return dict(zip(_HELD, found[0]))

    def _want(self, ids: Iterable[str]) -> None:
        """Put names into a temporary table, because their number may exceed the limit of a query."""
        try:
            self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id TEXT PRIMARY KEY)")
            with self._connection as connection:  # one transaction: one for each name takes most of the time
                connection.execute("BEGIN")
                connection.execute("DELETE FROM temp.wanted")
                connection.executemany("INSERT OR IGNORE INTO temp.wanted VALUES (?)", ((i,) for i in ids))
        except _FAULTS as error:
            raise self._refusal(error) from error

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except _FAULTS as error:
            if self._take_any_text(error):
                return self._execute(statement, values)
            raise self._refusal(error) from error

    def _take_any_text(self, error: Exception) -> bool:
        """If the error was invalid UTF-8, return True and from now on read such text all the same.

        Its checksum then shows which run is damaged. It is not done from the start, because it is slower.
        """
        if self._connection.text_factory is not str or "decode" not in str(error):
            return False
        self._connection.text_factory = functools.partial(str, encoding="utf-8", errors="surrogateescape")
        return True

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: either all of it is done or nothing."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(error, _FAULTS):
                raise self._refusal(error) from error
            raise

    # -- the file --------------------------------------------------------------------------------

    def _make(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._changing() as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute(TABLE)
        self._has_runs = True

    def _check(self, *, even_damaged: bool) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise StoreError(f"{self.path} is not a store of nalm; it was left unchanged.")
        if not OLDEST <= version <= SCHEMA:
            age = "a newer" if version > SCHEMA else "an older"
            made = f"{self.path} was made by {age} nalm (schema {version}, this one uses {SCHEMA})"
            raise StoreError(f"{made}; it was left unchanged.")
        if not even_damaged:
            # It also compares the index of names with the runs: otherwise one could be missing or repeated.
            (answer,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)
        if version != SCHEMA and self.read_only:
            self._schema = version
            self._connection.close()
            self._connection = connect(self._modern_copy(), read_only=True)
        elif version != SCHEMA:
            self._upgrade(version)
        held = {row[1] for row in self._connection.execute("PRAGMA table_info(runs)")}
        if lost := set(_HELD) - held:
            raise sqlite3.DatabaseError(f"column {min(lost)} is missing")

    def _modern_copy(self) -> Path:
        """An upgraded copy of an older store in a temporary folder, because reading changes nothing."""
        self._more_space = tempfile.TemporaryDirectory(prefix="nalm-")
        copy = Path(shutil.copyfile(self.path, Path(self._more_space.name) / self.path.name))
        Store(copy).close()
        return copy

    def _upgrade(self, version: int) -> None:
        """Upgrade an older store to this schema in one transaction, keeping a copy of it next to it."""
        copy = self.path.with_name(f"{self.path.name}.schema-{version}")
        copy.unlink(missing_ok=True)  # left by an upgrade that was interrupted
        self._connection.execute("VACUUM INTO ?", (str(copy),))
        # From here on, text that was damaged is read all the same.
        self._take_any_text(UnicodeError("decode"))
        with self._changing() as connection:
            bring_over(connection, TABLE)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _refusal(self, error: Exception) -> StoreError:
        return refusal(error, self.path, self.read_only, self._more)

    def damaged(self, how: str) -> StoreError:
        """The error for a damaged file."""
        return damaged(self.path, how, self._more)
