"""What is kept of a run, how it is written as the values of a row, and how damage to those is noticed."""

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
    """What is kept of a run.

    Attributes:
        id: name of the run, see `Run.id`. task: name of the task. model: the model as it is written on the
        command line. labels: what tells the run from others of its task, such as operation and range. seed:
        the seed. iterations: steps. identity: all that determines the numbers but the seed. machine: versions
        and processor that computed them. steps: the logged steps. validation, test: the task's decisive error
        at those steps, on the validation set and on the first test set. errors: further errors and test sets,
        `split/error` to curve. chosen: index of the chosen step. diverged_at: first logged step with a
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
"""The columns of a row, in order; a checksum follows them."""
_ARRAYS = {"steps": np.int64, "history_steps": np.int64, "validation": np.float64, "test": np.float64}
_REALS = ("sparsity", "sparsity_with_gates", "ideal_validation", "ideal_test")
_JSON = ("labels", "identity", "machine", "cost")
_NAMED_ARRAYS = ("chosen_parameters", "final_parameters", "history", "errors")

BULK = ("identity", "machine", *_NAMED_ARRAYS)
"""What takes long to read and may be left out: identity, machine, parameters, further errors."""
PARTS = {"curve": tuple(name for name in COLUMNS if name not in BULK), **{name: (name,) for name in BULK}}
"""Columns that are checked together: each of those that may be left out alone, and all others as one."""
_CHECKSUMS = struct.Struct(f"<{len(PARTS)}I")
_UNREADABLE = (ValueError, KeyError, TypeError)
"""What labels raise that are not what was written; errors of JSON are ValueErrors."""


@dataclass(frozen=True)
class Damage:
    """A run that is not as it was stored.

    Attributes:
        place: where it is in the store.
        id: the name of the run. about: model, labels and seed. Both as far as they can be read.
        parts: which of its `PARTS` are damaged.
    """

    place: int
    id: str
    about: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, values: Mapping[str, Any], parts: Iterable[str], place: int = 0) -> Damage:
        """The damage to a row, of which perhaps nothing can be read."""
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
    """What was read of a damaged row, without what a terminal would obey."""
    return "?" if value is None else "".join(c if c.isprintable() else "?" for c in str(value))


def encoded(record: Record) -> list[Any]:
    """The values of the row of a record, its checksums last."""
    values = {name: _encode(name, getattr(record, name)) for name in COLUMNS}
    return [*values.values(), checksums(values)]


def decoded(values: Mapping[str, Any]) -> Record:
    """The record of a row whose values are whole."""
    held = dict(values)
    del held["checksums"]
    for name, decoder in _DECODERS.items():
        value = held[name]
        held[name] = decoder(value) if value else _EMPTY[name]
    made = object.__new__(Record)
    made.__dict__.update(held)  # as its __init__ does, which takes as long as all the rest
    return made


def checksums(values: Mapping[str, Any]) -> bytes:
    """One checksum for each part of a row."""
    return _CHECKSUMS.pack(*(checksum([values[name] for name in names]) for names in PARTS.values()))


def damaged_parts(values: Mapping[str, Any], without: Collection[str] = ()) -> list[str]:
    """The parts of a row that are not as they were written.

    Args:
        values: the row, with `checksums`.
        without: parts that were not read.
    """
    written = values["checksums"]
    if not isinstance(written, bytes) or len(written) != _CHECKSUMS.size:
        return [part for part in PARTS if part not in without]
    found = zip(PARTS, _CHECKSUMS.unpack(written))
    return [part for part, sum in found if part not in without and _checksum_of(part, values) != sum]


def _checksum_of(part: str, values: Mapping[str, Any]) -> int:
    """The checksum of a part of a row; of texts that many runs share it is computed once."""
    if part in _SHARED:
        return _shared_checksum((values[part],))
    return checksum(_curve(values) if part == "curve" else [values[part]])


_curve = operator.itemgetter(*PARTS["curve"])


def checksum(values: Sequence[Any]) -> int:
    """CRC-32 of values, of their kinds and lengths too: it notices any change within 32 bits in a row."""
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
    if name in _REALS:  # as SQLite gives it back, which knows neither NaN nor -0.0
        return None if value is None or value != value else float(value) + 0.0
    if name == "labels":  # in the task's own order, by which rows are sorted
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
    """The same object for the same text: the runs of a case share their identity, and nobody changes it."""
    return json.loads(text) if text else {}


def _from_npz(value: bytes) -> dict[str, np.ndarray]:
    """What `np.savez` wrote; `np.load` takes longest to parse headers, mostly the same ones."""
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
    """Shape, order and kind of numbers; the same for all runs of an architecture."""
    return np.lib.format.read_array_header_1_0(io.BytesIO(header))


@functools.lru_cache(maxsize=4096)
def _steps(value: bytes) -> np.ndarray:
    """Logged steps: the same array for all runs of a recipe, which cannot be written to."""
    return np.frombuffer(value, _ARRAYS["steps"])


_DECODERS: dict[str, Callable[[Any], Any]] = {
    **{name: functools.partial(np.frombuffer, dtype=dtype) for name, dtype in _ARRAYS.items()},
    **dict.fromkeys(("steps", "history_steps"), _steps),
    **dict.fromkeys(_JSON, _from_json),
    **dict.fromkeys(_NAMED_ARRAYS, _from_npz),
}
"""What makes a value of what is stored, for columns where they differ."""
_EMPTY = {
    **{name: np.frombuffer(b"", dtype) for name, dtype in _ARRAYS.items()},
    **{name: {} for name in (*_JSON, *_NAMED_ARRAYS)},
}
"""What is read of columns that are empty or were left out; nobody changes it."""
