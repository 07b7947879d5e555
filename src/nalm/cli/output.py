"""Text output: tables on standard output, messages on standard error."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable

from nalm.report.tables import TextTable


def print_table(table: TextTable) -> None:
    """Print a table on standard output, as wide as the terminal; in a pipe, one line per row."""
    print(table.text(shutil.get_terminal_size().columns if sys.stdout.isatty() else None))


def say(text: str) -> None:
    """Print a message on standard error."""
    print(text, file=sys.stderr)


def say_all(texts: Iterable[str]) -> None:
    """Print messages on standard error."""
    for text in texts:
        say(text)


def duration(seconds: float) -> str:
    """A duration in a suitable unit."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
