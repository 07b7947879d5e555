"""The table of remembered answers: the last ones, each under the name of its request.

It is made when it is first needed. Other versions of nalm that know the table of runs ignore it, and need
not keep it up to date: an answer itself says which runs it rests on, and how they were then.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

KEPT = 50
"""So many answers are kept; one of 6,750 runs takes 150 kB."""
_TABLE = "CREATE TABLE IF NOT EXISTS answers (request TEXT PRIMARY KEY NOT NULL, answer BLOB NOT NULL)"
_EXISTS = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'answers'"
_FIND = "SELECT answer FROM answers WHERE request = ?"


def find(connection: sqlite3.Connection, request: str) -> bytes | None:
    """The answer to a request, or None."""
    (exists,) = connection.execute(_EXISTS).fetchone()
    found = connection.execute(_FIND, (request,)).fetchone() if exists else None
    return found[0] if found and isinstance(found[0], bytes) else None


def keep(connection: sqlite3.Connection, request: str, answer: bytes) -> None:
    """Keep an answer instead of an earlier one, and of the others only the latest; in a transaction."""
    connection.execute(_TABLE)
    connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (request, answer))
    latest = "SELECT rowid FROM answers ORDER BY rowid DESC LIMIT ?"
    connection.execute(f"DELETE FROM answers WHERE rowid NOT IN ({latest})", (KEPT,))


def forget(connection: sqlite3.Connection) -> None:
    """Forget all answers; in a transaction."""
    connection.execute("DROP TABLE IF EXISTS answers")


def may_have(path: Path, request: str) -> bool:
    """Whether it is worth opening a store to look for an answer; also True if another command uses it.

    Opening a store checks all of it and upgrades one of an earlier version: not for a question whose answer
    it does not have, and whose arguments may be wrong.
    """
    if not path.is_file():
        return False
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)) as connection:
            return find(connection, request) is not None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # opening the store says what is wrong
        return "locked" in str(error)
