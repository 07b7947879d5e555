"""The file of a store: how it is opened, what it is recognised by, and its table of runs."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

SCHEMA = 6
"""The version of the table of runs."""
APPLICATION = 0x6E616C6D  # "nalm"
TABLE = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL, task TEXT NOT NULL, model TEXT NOT NULL, labels TEXT NOT NULL,
    seed INTEGER NOT NULL, iterations INTEGER NOT NULL, identity TEXT NOT NULL, machine TEXT NOT NULL,
    steps BLOB NOT NULL, validation BLOB NOT NULL, test BLOB NOT NULL, chosen INTEGER NOT NULL,
    diverged_at INTEGER NOT NULL, reinitialised INTEGER NOT NULL, sparsity REAL, sparsity_with_gates REAL,
    ideal_validation REAL, ideal_test REAL, chosen_parameters BLOB NOT NULL,
    final_parameters BLOB NOT NULL, history_steps BLOB NOT NULL, history BLOB NOT NULL,
    computed_at TEXT NOT NULL, cost TEXT NOT NULL, errors BLOB NOT NULL, checksums BLOB NOT NULL
)
"""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open the file: for this process alone, or only to be read."""
    if not read_only:
        made = sqlite3.connect(path, timeout=1.0, isolation_level=None)
        made.execute("PRAGMA locking_mode = EXCLUSIVE")
        return made
    # If SQLite cannot write its other files to the folder, it must be told that the store never changes.
    fixed = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
    address = f"{path.resolve().as_uri()}?mode=ro{fixed}"
    return sqlite3.connect(address, uri=True, timeout=1.0, isolation_level=None)


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written: a new file, or one whose creation was interrupted."""
    (things,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return not things and not application
