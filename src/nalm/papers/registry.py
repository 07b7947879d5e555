"""Entries of the ledger by id: those of this package, and those that installed packages offer.

A package offers a paper by an entry point of the group `nalm.papers`: its name is the key that the ids of the
paper's entries begin with, its value a module with `ENTRIES`. The paper's `published.csv` may lie next to the
module's file. A paper of this package cannot be replaced by another with the same key.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from nalm.errors import ArgumentError, nearest
from nalm.models.offered import load, load_each, offered
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Entry
from nalm.papers.published import FILE, Published, numbers_of, read_numbers

GROUP = "nalm.papers"
"""The group of entry points."""
_OURS = {entry.partition(":")[0] for entry in ENTRIES}


def find_entry(name: str) -> Entry:
    """The entry with this id; the only package imported is the one that offers its paper."""
    paper = name.partition(":")[0]
    known = {**ENTRIES, **(_offered_entries(paper) if _is_offered(paper) else {})}
    if name not in known:
        hint = f"Did you mean {close!r}?" if (close := nearest(name, known)) else ""
        raise ArgumentError("ID", "one of `nalm reproduce --list`", repr(name), hint)
    return known[name]


def all_entries() -> tuple[dict[str, Entry], list[str]]:
    """Every entry by its id, and a sentence about each offered paper that cannot be used."""
    theirs, faults = load_each(filter(_is_offered, offered(GROUP)), _offered_entries)
    return {**ENTRIES, **{name: entry for found in theirs.values() for name, entry in found.items()}}, faults


def published_of(entry: str) -> dict[tuple[str, str, str], Published]:
    """The published numbers of an entry, by row, column and metric."""
    paper = entry.partition(":")[0]
    numbers: Iterable[Published] = numbers_of(entry)
    if _is_offered(paper):
        numbers = (number for number in _offered_numbers(paper) if number.entry == entry)
    return {(number.row, number.column, number.metric): number for number in numbers}


def _is_offered(paper: str) -> bool:
    """Whether another package offers the paper, and this one does not have it."""
    return paper not in _OURS and paper in offered(GROUP)


@functools.cache
def _offered_entries(paper: str) -> dict[str, Entry]:
    module = _module(paper)
    found = getattr(module, "ENTRIES", None)
    if not isinstance(found, tuple | list) or not all(isinstance(entry, Entry) for entry in found):
        expected = "a module whose `ENTRIES` is a tuple of entries of the ledger"
        raise ArgumentError("paper", expected, f"{module.__name__} with {found!r}")
    for entry in found:
        if not entry.id.startswith(f"{paper}:"):
            expected = f"a module whose entries have ids that begin with {paper + ':'!r}"
            raise ArgumentError("paper", expected, f"{entry.id!r} in {module.__name__}")
    return {entry.id: entry for entry in found}


def _offered_numbers(paper: str) -> list[Published]:
    file = Path(str(_module(paper).__file__)).with_name(FILE)
    return list(read_numbers(file.read_text(encoding="utf-8"))) if file.is_file() else []


def _module(paper: str) -> ModuleType:
    found = load(GROUP, paper, "paper")
    if not isinstance(found, ModuleType):
        raise ArgumentError("paper", "a module with `ENTRIES`", f"{paper!r}, which is {found!r}")
    return found
