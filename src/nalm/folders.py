"""Folders of the user that nalm keeps files in."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Where nalm keeps what can be made or fetched again: a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "nalm"
