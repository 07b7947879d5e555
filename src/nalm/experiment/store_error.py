"""A store that cannot be used, in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

from nalm.errors import NalmError


class StoreError(NalmError):
    """A store that cannot be used, in one sentence."""


def is_read_only(path: Path) -> bool:
    """Whether the file or its folder, where SQLite keeps more files, exists but cannot be written."""
    return any(p.exists() and not os.access(p, os.W_OK) for p in (path, path.parent))


def damaged(path: Path, how: str, more: str) -> StoreError:
    """What is raised where something is wrong with the file."""
    return StoreError(f"{path} is damaged ({how}); it was left as it is. {more}")


def refusal(error: Exception, path: Path, read_only: bool, more: str) -> StoreError:
    """The sentence for what SQLite raised.

    Args:
    error: what was raised.
    path: the store.
    read_only: whether it was opened to be read.
    more: where a user learns more about damage.
    """
    text = " ".join(str(error).split())
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is in use by another command; wait for it or use another --store.")
    if "not a database" in text:
        return StoreError(f"{path} is not a store of nalm; it was left as it is.")
    if "readonly" in text or (not read_only and is_read_only(path)):
        return StoreError(f"{path} cannot be written: it or its folder is read-only.")
    if "full" in text:
        return StoreError(f"{path} cannot be written: the disk is full. What was stored before is whole.")
    if "unable to open" in text or path.is_dir():
        return StoreError(f"{path} cannot be opened or made.")
    return damaged(path, text, more)
