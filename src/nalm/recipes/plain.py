"""Recipes as plain data: used for the identity of a run, and to show its recipe.

Every part becomes a dictionary of its kind and of the fields that differ from their defaults, so that adding
a field later does not change the identity of any run. A default must therefore never change: a new value
needs a new field or a new kind.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from numbers import Real
from typing import Any

from nalm import recipes

Plain = Any
"""Dictionaries, lists, texts, numbers, booleans and None: what JSON can hold."""


def to_plain(part: Any) -> Plain:
    """A recipe, or a part of one, as plain data without defaults."""
    if isinstance(part, tuple | list):
        return [to_plain(each) for each in part]
    if not is_dataclass(part) or isinstance(part, type):
        return _number(part)
    kept = {name: getattr(part, name) for name in _defaults(type(part))}
    kept = {name: value for name, value in kept.items() if not _same(value, _defaults(type(part))[name])}
    return {"kind": _kind(type(part)), **{name: to_plain(value) for name, value in kept.items()}}


def without_defaults(plain: Plain) -> Plain:
    """The same plain data without the fields that have their default."""
    if isinstance(plain, list):
        return [without_defaults(each) for each in plain]
    if not isinstance(plain, dict):
        return _number(plain)
    defaults = _plain_defaults(plain["kind"])
    held = {name: without_defaults(value) for name, value in plain.items()}
    return {name: value for name, value in held.items() if name not in defaults or defaults[name] != value}


def with_defaults(plain: Plain) -> Plain:
    """The same plain data with all fields, for the kinds that are known here."""
    if isinstance(plain, list):
        return [with_defaults(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    whole = {"kind": plain["kind"], **_plain_defaults(plain["kind"]), **plain}
    return {name: with_defaults(value) for name, value in whole.items()}


def in_words(plain: Plain) -> str:
    """A recipe as it would be written in Python, without empty fields."""
    if isinstance(plain, list):
        return f"({', '.join(map(in_words, plain))}{',' if len(plain) == 1 else ''})"
    if not isinstance(plain, dict):
        return repr(plain)
    said = {name: value for name, value in plain.items() if name != "kind" and value not in (None, [])}
    return f"{plain['kind']}({', '.join(f'{name}={in_words(value)}' for name, value in said.items())})"


def leaves(plain: Plain, path: str = "") -> Iterator[tuple[str, Plain]]:
    """Every part and value with its path, such as `optimiser.learning_rate`; tuples are counted from 1."""
    if path:
        yield path, plain
    if isinstance(plain, dict):
        for name, value in plain.items():
            if name != "kind":
                yield from leaves(value, f"{path}.{name}" if path else name)
    elif isinstance(plain, list):
        for k, value in enumerate(plain):
            yield from leaves(value, f"{path}.{k + 1}")


def _kind(part: type) -> str:
    """The name of a class; with its module if it is another package's, and one of ours has the same name."""
    ours = getattr(recipes, part.__name__, part)
    return part.__name__ if ours is part else f"{part.__module__}.{part.__qualname__}"


def _number(value: Any) -> Any:
    """A number in one notation: 1 and 1.0 are the same run and must give the same identity."""
    if isinstance(value, Real) and not isinstance(value, bool):
        wide = float(value)
        return int(wide) if wide.is_integer() else wide
    return value


def _same(value: Any, default: Any) -> bool:
    return default is not MISSING and type(value) in (type(default), int, float) and bool(value == default)


@functools.cache
def _defaults(kind: type) -> dict[str, Any]:
    """The fields of a kind, with their defaults."""
    return {field.name: field.default for field in fields(kind)}


@functools.cache
def _plain_defaults(kind: str) -> dict[str, Plain]:
    """The defaults of a kind as plain data; none for a kind that is not known here."""
    found = getattr(recipes, kind, None)
    if not is_dataclass(found) or not isinstance(found, type):
        return {}
    return {name: to_plain(value) for name, value in _defaults(found).items() if value is not MISSING}
