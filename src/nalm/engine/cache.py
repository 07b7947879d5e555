"""Where compiled programs are kept on disk."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path

from nalm.folders import user_cache

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
"""The environment variable that tells torch the folder."""
_FOLDER = "programs-2"
"""Renamed when the way of compiling changes, because torch's cache does not notice that."""


def cache_folder() -> Path:
    """Where compiled programs are kept: the user's setting for torch, or a folder in the user's cache."""
    configured = os.environ.get(VARIABLE)
    if configured and not _is_torchs_default(Path(configured)):
        return Path(configured)
    return user_cache() / _FOLDER


def _is_torchs_default(folder: Path) -> bool:
    """Whether torch wrote the variable itself, as it does on first use, so that no user set it."""
    return folder.parent == Path(tempfile.gettempdir()) and folder.name.startswith("torchinductor_")


def is_writable(folder: Path) -> bool:
    """Whether files can be made in this folder, which need not exist yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


@functools.cache
def working_folder(wanted: Path) -> Path:
    """The cache folder, or a temporary one for this process where the cache cannot be written."""
    if is_writable(wanted):
        return wanted.absolute()
    temporary = tempfile.mkdtemp(prefix="nalm-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def remove_damaged(text: str) -> None:
    """Remove cached libraries that an error text names: a killed process may have left one half written."""
    folder = working_folder(cache_folder())
    for found in map(Path, re.findall(r"/[^\s:]+\.so\b", text)):
        if found.is_relative_to(folder):
            found.unlink(missing_ok=True)
