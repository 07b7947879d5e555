"""What the store keeps of a run, how it is encoded as a row, and how damage to a row is noticed."""

from __future__ import annotations

import functools
import io
import json
import operator
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Record:
    """What the store keeps of a run.

    Attributes:
        id: the name of the run, see `Run.id`.
        task: the name of the task.
        model: the model as it is written on the command line.
        labels: what distinguishes the run's task from others of its name, such as operation and range.
        seed: the seed.
        iterations: the number of steps.
        identity: everything but the seed that determines the numbers.
        machine: the versions and the processor that computed them.
        steps: the logged steps.
        validation: the task's decisive error at those steps on the validation set.
        test: the same error on the first test set.
        chosen: index into `steps` of the chosen step.
        diverged_at: the first logged step with a number that is not finite, or -1.
        reinitialised: how often the run was given new weights.
        sparsity: the largest distance of a weight or bias from {-1, 0, 1} at the chosen step; None without
            units.
        sparsity_with_gates: the same, gates included.
        ideal_validation: the error of ideal weights on the validation set, if the task has no threshold.
        ideal_test: the same on the first test set.
        chosen_parameters: the parameters at the chosen step, by name.
        final_parameters: the parameters after the last step, by name.
        history_steps: the logged steps at which parameters were kept; empty for large models.
        history: the parameters at those steps, `points x ...` by name.
        computed_at: the time in ISO 8601; runs from before version 0.5 have neither this nor a history.
        cost: in second-order training, what was found and what it cost; otherwise empty.
        errors: the curves of further errors and test sets, by `split/error`.
    """

    id: str
    task: str
    model: str
    labels: dict[str, Any]
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
    errors: dict[str, np.ndarray]


COLUMNS = tuple(Record.__dataclass_fields__)
"""The columns of a row, in order; the checksums follow them."""
_ARRAYS = {"steps": np.int64, "history_steps": np.int64, "validation": np.float64, "test": np.float64}
_REALS = ("sparsity", "sparsity_with_gates", "ideal_validation", "ideal_test")
_JSON = ("labels", "identity", "machine", "cost")
_NAMED_ARRAYS = ("chosen_parameters", "final_parameters", "history", "errors")

BULK = ("identity", "machine", *_NAMED_ARRAYS)
"""Columns that take long to read and may be left out: identity, machine, parameters, further errors."""
PARTS = {"curve": tuple(name for name in COLUMNS if name not in BULK), **{name: (name,) for name in BULK}}
"""Columns that share a checksum: each column of `BULK` has its own, and all others have one together."""
_CHECKSUMS = struct.Struct(f"<{len(PARTS)}I")
_UNREADABLE = (ValueError, KeyError, TypeError)
"""What damaged labels raise when they are read; errors of JSON are ValueErrors."""


@dataclass(frozen=True)
class Damage:
    """A run that differs from what was stored.

    Attributes:
        place: its row in the store.
        id: the name of the run, as far as it can be read.
        about: model, labels and seed, as far as they can be read.
        parts: which of its `PARTS` are damaged.
    """

    place: int
    id: str
    about: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, values: Mapping[str, Any], parts: Iterable[str], place: int = 0) -> Damage:
        """The damage to a row, even if nothing of the row can be read."""
        try:
            held = json.loads(values["labels"]).items()
            labels = [each if isinstance(each, str) else f"{name}={each}" for name, each in held]
        except (*_UNREADABLE, AttributeError):
            labels = []
        words = [values.get("model"), *labels, f"seed {_printable(values.get('seed'))}"]
        about = ", ".join(map(_printable, words))
        return cls(place, _printable(values.get("id")), about, tuple(parts))

    def __str__(self) -> str:
        parts = ", ".join(self.parts).replace("_", " ")
        return f"Run {self.id} ({self.about}) is damaged: {parts}."


def _printable(value: Any) -> str:
    """A value of a damaged row, without control characters, which a terminal would obey."""
    return "?" if value is None else "".join(c if c.isprintable() else "?" for c in str(value))


def encoded(record: Record) -> list[Any]:
    """The values of a record's row, its checksums last."""
    values = {name: _encode(name, getattr(record, name)) for name in COLUMNS}
    return [*values.values(), checksums(values)]


def decoded(values: Mapping[str, Any]) -> Record:
    """The record of an intact row."""
    held = dict(values)
    del held["checksums"]
    for name, decoder in _DECODERS.items():
        value = held[name]
        held[name] = decoder(value) if value else _EMPTY[name]
    made = object.__new__(Record)
    made.__dict__.update(held)  # what __init__ does too, but in as much time as everything else here
    return made


def checksums(values: Mapping[str, Any]) -> bytes:
    """One checksum for each part of a row."""
    return _CHECKSUMS.pack(*(checksum([values[name] for name in names]) for names in PARTS.values()))


def damaged_parts(values: Mapping[str, Any], without: Collection[str] = ()) -> list[str]:
    """The parts of a row that differ from what was written.

    Args:
        values: the row, with its `checksums`.
        without: the parts that were not read.
    """
    written = values["checksums"]
    if not isinstance(written, bytes) or len(written) != _CHECKSUMS.size:
        return [part for part in PARTS if part not in without]
    found = zip(PARTS, _CHECKSUMS.unpack(written))
    return [part for part, sum in found if part not in without and _checksum_of(part, values) != sum]


def _checksum_of(part: str, values: Mapping[str, Any]) -> int:
    """The checksum of a part of a row; for texts that many runs share it is computed once."""
    if part in _SHARED:
        return _shared_checksum((values[part],))
    return checksum(_curve(values) if part == "curve" else [values[part]])


_curve = operator.itemgetter(*PARTS["curve"])


def checksum(values: Sequence[Any]) -> int:
    """CRC-32 of values, their types and their lengths: it detects any change within 32 consecutive bits."""
    others, blobs = list(values), []
    for k, value in enumerate(others):
        if type(value) is bytes:
            blobs.append(value)
            others[k] = len(value)
    found = zlib.crc32(repr(others).encode("utf-8", "surrogatepass"))
    for blob in blobs:
        found = zlib.crc32(blob, found)
    return found


_SHARED = ("identity", "machine")
_shared_checksum = functools.lru_cache(maxsize=4096)(checksum)


def _encode(name: str, value: Any) -> Any:
    if name in _ARRAYS:
        return np.asarray(value, dtype=_ARRAYS[name]).tobytes()
    if name in _REALS:  # the value that SQLite returns, which stores neither NaN nor -0.0
        return None if value is None or value != value else float(value) + 0.0
    if name == "labels":  # not sorted: in the task's own order, by which rows are sorted
        return json.dumps(value)
    if name in _JSON:
        return json.dumps(value, sort_keys=True)
    if name == "errors" and not value:
        return b""
    if name in _NAMED_ARRAYS:
        buffer = io.BytesIO()
        np.savez(buffer, **value)
        return buffer.getvalue()
    return value


@functools.lru_cache(maxsize=4096)
def _from_json(text: str) -> Any:
    """The same object for the same text: the runs of a case share their identity, which nothing changes."""
    return json.loads(text) if text else {}


def _from_npz(value: bytes) -> dict[str, np.ndarray]:
    """What `np.savez` wrote; `np.load` spends most of its time on headers, which are mostly the same."""
    if not value:
        return {}
    with zipfile.ZipFile(io.BytesIO(value)) as held:
        return {name.removesuffix(".npy"): _from_npy(held.read(name)) for name in held.namelist()}


def _from_npy(data: bytes) -> np.ndarray:
    start = 10 + int.from_bytes(data[8:10], "little")
    if data[:8] != b"\x93NUMPY\x01\x00":  # the usual version of the format
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    shape, in_columns, dtype = _npy_header(data[8:start])
    return np.frombuffer(data, dtype, offset=start).reshape(shape, order="F" if in_columns else "C").copy()


@functools.lru_cache(maxsize=1024)
def _npy_header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether it is in Fortran order, and dtype: the same for all runs of an architecture."""
    return np.lib.format.read_array_header_1_0(io.BytesIO(header))


@functools.lru_cache(maxsize=4096)
def _steps(value: bytes) -> np.ndarray:
    """Logged steps: the same read-only array for all runs of a recipe."""
    return np.frombuffer(value, _ARRAYS["steps"])


_DECODERS: dict[str, Callable[[Any], Any]] = {
    **{name: functools.partial(np.frombuffer, dtype=dtype) for name, dtype in _ARRAYS.items()},
    **dict.fromkeys(("steps", "history_steps"), _steps),
    **dict.fromkeys(_JSON, _from_json),
    **dict.fromkeys(_NAMED_ARRAYS, _from_npz),
}
"""The decoders of columns whose stored values differ from those of a record."""
_EMPTY = {
    **{name: np.frombuffer(b"", dtype) for name, dtype in _ARRAYS.items()},
    **{name: {} for name in (*_JSON, *_NAMED_ARRAYS)},
}
"""The values of columns that are empty or were left out; nothing changes them."""
