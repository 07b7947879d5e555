"""Errors of a store: for each way in which it cannot be used, one sentence."""

from __future__ import annotations

import os
from pathlib import Path

from nalm.errors import NalmError


class StoreError(NalmError):
    """A store cannot be used; the text says why."""


def is_read_only(path: Path) -> bool:
    """Whether the file or its folder, where SQLite keeps more files, exists but cannot be written."""
    return any(p.exists() and not os.access(p, os.W_OK) for p in (path, path.parent))


def damaged(path: Path, how: str, more: str) -> StoreError:
    """The error for a damaged file."""
    return StoreError(f"{path} is damaged ({how}); it was left unchanged. {more}")


def refusal(error: Exception, path: Path, read_only: bool, more: str) -> StoreError:
    """The error for what SQLite raised.

    Args:
        error: what was raised.
        path: the store.
        read_only: whether it was opened only to be read.
        more: a sentence that says how to learn more about damage.
    """
    text = " ".join(str(error).split())
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is in use by another command; wait for it or use another --store.")
    if "not a database" in text:
        return StoreError(f"{path} is not a store of nalm; it was left unchanged.")
    if "readonly" in text or (not read_only and is_read_only(path)):
        return StoreError(f"{path} cannot be written: it or its folder is read-only.")
    if "full" in text:
        return StoreError(f"{path} cannot be written: the disk is full. Runs stored before are intact.")
    if "unable to open" in text or path.is_dir():
        return StoreError(f"{path} cannot be opened or created.")
    return damaged(path, text, more)
