"""The JSON output of `--json`."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any


def write_json(data: Any, file: str | None) -> bool:
    """Write JSON if requested; True if it went to standard output, which must then contain nothing else."""
    if file is None:
        return False
    text = json.dumps(data, indent=2, allow_nan=False)
    if file == "-":
        print(text)
        return True
    Path(file).write_text(text + "\n", encoding="utf-8")
    return False


def check_writable(file: str | None) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if file is None or file == "-":
        return
    if not Path(file).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    if Path(file).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
