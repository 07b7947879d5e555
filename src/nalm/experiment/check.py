"""Go through a store: which runs are as they were stored, and which are damaged."""

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
        checksums: whether it has checksums; without, only what cannot be read at all is noticed.
        runs: how many runs there are.
        damaged: those that are not as they were stored.
        faults: what is wrong with the file as a whole.
        repaired: whether what was damaged was taken out and the rest is whole; None if that was not asked
            for, or there was nothing to do.
    """

    store: Path
    checksums: bool
    runs: int
    damaged: list[Damage]
    faults: list[str]
    repaired: bool | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is damaged, or not any more."""
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
        counted = f"{self.store}: {self.runs - len(self.damaged):,} of {self.runs:,} runs are whole."
        unsure = "It has no checksums, so that only what cannot be read was noticed: the first command that "
        lines = [counted if self.checksums else f"{counted}\n{unsure}computes adds them."]
        lines += [str(damage) for damage in self.damaged]
        lines += [f"The file itself is damaged: {fault}" for fault in self.faults]
        return "\n".join([*lines, *self._advice()])

    def _advice(self) -> list[str]:
        again = "the command that made them computes them again"
        if self.repaired:
            return [f"Damaged runs were taken out; {again}."]
        if self.repaired is False:
            return ["It cannot be repaired: take a copy from before, or compute with another --store."]
        if self.is_whole:
            return []
        return [f"With --repair damaged runs are taken out, and {again}."]


def check_store(
    path: Path, *, repair: bool = False, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Check:
    """Go through a store.

    Args:
        path: the store.
        repair: take damaged runs out, so that the command that made them computes them again.
        tell: is told how many of how many runs are done.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist; `nalm bench` makes it.")
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
    except StoreError:  # it was undone
        return False
    return not store.faults()
