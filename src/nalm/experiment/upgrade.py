"""Upgrade stores of version 0.3 to 0.8 to the current schema.

Runs keep their numbers. Their names change once: a run was named by the `repr` of its recipe, and is now
named by plain data. Operation, range and number of inputs were columns, and are now labels.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import sqlite3
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nalm.experiment.naming import FORMAT, identity_text, name_of
from nalm.experiment.record import COLUMNS, checksum, checksums

if TYPE_CHECKING:
    from nalm.recipes.plain import Plain

OLDEST = 2
"""The oldest schema that can be upgraded."""
FIRST_WITH_CHECKSUMS = 5
_COLUMNS = (
    "id", "task", "model", "op", "range", "inputs", "seed", "iterations", "identity", "machine", "steps",
    "validation", "test", "chosen", "diverged_at", "reinitialised", "sparsity", "sparsity_with_gates",
    "ideal_validation", "ideal_test", "chosen_parameters", "final_parameters", "history_steps", "history",
    "computed_at", "cost",
)  # fmt: skip
_LATER = {"history_steps": b"", "history": b"", "computed_at": "", "cost": "", "checksums": None}
"""Columns that not every older schema has, with their values where they are missing."""
_BULK = ("identity", "machine", "chosen_parameters", "final_parameters", "history")
_PARTS = {"curve": tuple(name for name in _COLUMNS if name not in _BULK), **{name: (name,) for name in _BULK}}
_CHECKSUMS = struct.Struct(f"<{len(_PARTS)}I")
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    zipfile.BadZipFile,
    NotImplementedError,
    SyntaxError,
)
"""What damaged values raise when they are read; errors of JSON and of Unicode are ValueErrors."""
_SETTINGS = ("layers", "recipe", "hidden", "log_interval", "precision", "numerics_version")
_SUBSETS = {"subset_ratio": 0.25, "overlap_ratio": 0.5}
_NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def bring_over(connection: sqlite3.Connection, table: str) -> None:
    """Move all runs into a table of the current schema; the caller opens and ends the transaction.

    Args:
        connection: to a store of an older schema.
        table: the statement that creates the current table.
    """
    connection.execute("ALTER TABLE runs RENAME TO older")
    connection.execute(table)
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    connection.executemany(f"INSERT OR REPLACE INTO runs VALUES ({marks})", map(_row, _older(connection)))
    connection.execute("DROP TABLE older")


def _older(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    held = {row[1] for row in connection.execute("PRAGMA table_info(older)")}
    if lost := set(_COLUMNS) - held - set(_LATER):
        raise sqlite3.DatabaseError(f"column {min(lost)} is missing")
    names = [name for name in (*_COLUMNS, "checksums") if name in held]
    for row in connection.execute(f"SELECT {', '.join(names)} FROM older ORDER BY rowid"):
        yield {**_LATER, **dict(zip(names, row))}


def _row(older: dict[str, Any]) -> list[Any]:
    """The values of a row of the current schema; a damaged run gets no checksums, so it stays damaged."""
    labels = json.dumps({name: older[name] for name in ("op", "inputs", "range")})
    values = {**older, "labels": labels, "errors": b""}
    if _is_damaged(older):
        return [*(_storable(values[name]) for name in COLUMNS), b""]
    values["identity"] = identity_text(modern_identity(json.loads(older["identity"])))
    if _is_named_by(older):
        values["id"] = name_of(values["identity"], older["seed"])
    return [*(values[name] for name in COLUMNS), checksums(values)]


def _storable(value: Any) -> Any:
    """Text that is not valid UTF-8 as its original bytes; any other value as it is."""
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        return value.encode("utf-8", "surrogateescape")
    return value


# -- names -------------------------------------------------------------------------------------------


def modern_identity(older: dict[str, Any]) -> dict[str, Any]:
    """The current form of an identity that was written by version 0.8 or earlier."""
    if not isinstance(older.get("recipe"), str):
        return older
    task = {"name": older["task"], **{k: v for k, v in older.items() if k not in (*_SETTINGS, "task")}}
    task = {name: value for name, value in task.items() if value != _SUBSETS.get(name)}
    settings = {name: older[name] for name in _SETTINGS if name in older}
    return {"format": FORMAT, "task": task, **settings, "recipe": recipe_of_text(older["recipe"])}


def recipe_of_text(text: str) -> Plain:
    """A recipe as plain data, from its `repr`."""
    from nalm.recipes.plain import without_defaults  # imports torch, which a store of today does not need

    return without_defaults(_plain(ast.parse(text, mode="eval").body))


def _plain(node: ast.expr) -> Plain:
    if isinstance(node, ast.Call):
        fields = {str(word.arg): _plain(word.value) for word in node.keywords}
        kind = ast.unparse(node.func)
        # Runs from before rules for "exact" were numbered used the first rule.
        first = {"rule": 1} if kind == "LevenbergMarquardt" else {}
        return {"kind": kind, **first, **fields}
    if isinstance(node, ast.Tuple):
        return [_plain(part) for part in node.elts]
    if isinstance(node, ast.Name):
        return _NUMBERS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_plain(node.operand)
    return ast.literal_eval(node)


# -- damage ------------------------------------------------------------------------------------------


def _is_damaged(values: Mapping[str, Any]) -> bool:
    """Whether a row differs from what was written; without checksums, whether it cannot be read."""
    written = values["checksums"]
    if isinstance(written, bytes) and len(written) == _CHECKSUMS.size:
        found = [checksum([values[name] for name in names]) for names in _PARTS.values()]
        return tuple(found) != _CHECKSUMS.unpack(written) or not _is_readable(values)
    return written is not None or not _is_readable(values)


def _is_readable(values: Mapping[str, Any]) -> bool:
    try:
        json.dumps(modern_identity(json.loads(values["identity"])))
        json.loads(values["machine"])
        json.loads(values["cost"] or "{}")
        for name in ("chosen_parameters", "final_parameters", "history"):
            if values[name] and zipfile.ZipFile(io.BytesIO(values[name])).testzip() is not None:
                return False
        lengths = {len(values[name]) for name in ("steps", "validation", "test")}
        plain = all("\ufffd" not in str(v) and str(v).isprintable() for v in (values["op"], values["range"]))
        named = not re.fullmatch("[0-9a-f]{32}", values["id"]) or _is_named_by(values)
        return plain and named and len(lengths) == 1 and 0 <= values["chosen"] < lengths.pop() / 8
    except _UNREADABLE:
        return False


def _is_named_by(values: Mapping[str, Any]) -> bool:
    """Whether the run's name matches its identity and seed."""
    text = f"{values['identity']} {values['seed']}".encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:32] == values["id"]
