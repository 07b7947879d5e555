"""Where checkpoints of runs that are not finished lie: in a folder next to the store."""

from __future__ import annotations

from pathlib import Path

_ENDING = ".checkpoints"


def checkpoint_folder(store: Path) -> Path:
    """The folder for the runs that a store is to get."""
    return store.resolve().with_name(store.name + _ENDING)


def is_next_to_its_store(folder: Path) -> bool:
    """Whether the store of a folder of checkpoints can be seen from here, on this file system."""
    return folder.with_name(folder.name.removesuffix(_ENDING)).is_file()
