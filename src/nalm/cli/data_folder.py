"""The folder of images that a command is given, for this process and those that it starts."""

from __future__ import annotations

import os
from pathlib import Path

from nalm.errors import ArgumentError

VARIABLE = "NALM_DATA"


def use_data_folder(folder: Path | None) -> None:
    """Look for images in this folder from now on; None leaves it to the environment."""
    if folder is None:
        return
    if not folder.is_dir():
        raise ArgumentError("data-dir", "a folder", repr(str(folder)))
    os.environ[VARIABLE] = str(folder.resolve())
