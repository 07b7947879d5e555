"""Check a store: which runs are intact, and which are damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.experiment.record import Damage
from nalm.experiment.store import Store, StoreError


@dataclass
class Check:
    """What was found in a store.

    Attributes:
        store: the store.
        checksums: whether it has checksums; without them, only unreadable runs are noticed.
        runs: the number of runs.
        damaged: the runs that differ from what was stored.
        faults: what is wrong with the file as a whole.
        repaired: whether the damaged runs were removed and the rest is intact; None if no repair was asked
            for or needed.
    """

    store: Path
    checksums: bool
    runs: int
    damaged: list[Damage]
    faults: list[str]
    repaired: bool | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is damaged, or everything was repaired."""
        return bool(self.repaired) or not (self.damaged or self.faults)

    def data(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "store": str(self.store),
            "checksums": self.checksums,
            "runs": self.runs,
            "whole": self.runs - len(self.damaged),
            "damaged": [{"id": d.id, "about": d.about, "parts": list(d.parts)} for d in self.damaged],
            "faults": self.faults,
            "repaired": self.repaired,
        }

    def __str__(self) -> str:
        if self.is_whole and not self.runs:
            return f"{self.store}: no runs are stored."
        counted = f"{self.store}: {self.runs - len(self.damaged):,} of {self.runs:,} runs are intact."
        unsure = "It has no checksums, so only unreadable runs were noticed; "
        added = "the next command that computes runs adds checksums."
        lines = [counted if self.checksums else f"{counted}\n{unsure}{added}"]
        lines += [str(damage) for damage in self.damaged]
        lines += [f"The file itself is damaged: {fault}" for fault in self.faults]
        return "\n".join([*lines, *self._advice()])

    def _advice(self) -> list[str]:
        again = "the command that made them computes them again"
        if self.repaired:
            return [f"Damaged runs were removed; {again}."]
        if self.repaired is False:
            return ["It cannot be repaired: restore a backup, or compute with another --store."]
        if self.is_whole:
            return []
        return [f"With --repair, damaged runs are removed, and {again}."]


def check_store(
    path: Path, *, repair: bool = False, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Check:
    """Check every run of a store.

    Args:
        path: the store.
        repair: remove damaged runs, so that the command that made them computes them again.
        on_progress: called with the number of runs checked and the number of all runs.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist; `nalm bench` creates it.")
    with Store(path, read_only=not repair, damaged=True) as store:
        found = Check(path, store.has_checksums, 0, [], store.faults())
        try:
            found.runs = store.count()
            found.damaged = list(store.damage(on_progress))
        except StoreError as error:  # not even the list of the runs can be read
            found.faults.append(str(error))
        if repair and not found.is_whole:
            found.repaired = _repaired(store, found.damaged)
        return found


def _repaired(store: Store, damaged: list[Damage]) -> bool:
    try:
        store.remove(damaged)
    except StoreError:  # the change was rolled back
        return False
    return not store.faults()
