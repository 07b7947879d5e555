"""The folder for checkpoints of unfinished runs, next to the store."""

from __future__ import annotations

from pathlib import Path

_ENDING = ".checkpoints"


def checkpoint_folder(store: Path) -> Path:
    """The folder for checkpoints of runs that will go into a store."""
    return store.resolve().with_name(store.name + _ENDING)


def is_next_to_its_store(folder: Path) -> bool:
    """Whether the store of a folder of checkpoints is visible on this machine's file system."""
    return folder.with_name(folder.name.removesuffix(_ENDING)).is_file()
