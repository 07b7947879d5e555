"""What a program reads: the JSON that `--json` asks for."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any


def write_json(data: Any, file: str | None) -> bool:
    """Write JSON where asked; True if standard output now belongs to it."""
    if file is None:
        return False
    text = json.dumps(data, indent=2, allow_nan=False)
    if file == "-":
        print(text)
        return True
    Path(file).write_text(text + "\n", encoding="utf-8")
    return False


def check_writable(file: str | None) -> None:
    """Refuse a file that cannot be made before the work that fills it."""
    if file is None or file == "-":
        return
    if not Path(file).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    if Path(file).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
