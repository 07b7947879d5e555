"""Text output: tables on standard output, messages on standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable

from nalm.report.tables import TextTable

PIPE_WIDTH = 100
"""How wide text with formulas is in a pipe."""


def print_table(table: TextTable, width: int | None = None) -> None:
    """Print a table on standard output, as wide as the terminal; in a pipe, one line per row or `width`."""
    print(table.text(_width() or width))


def formula_width() -> int:
    """How wide text with formulas may be on standard output."""
    return _width() or PIPE_WIDTH


def print_paragraphs(texts: Iterable[str]) -> None:
    """Print paragraphs on standard output, wrapped on a terminal; in a pipe, one line each."""
    width = _width()
    for text in texts:
        # Long words are formulas, which nobody wants to be broken.
        print(
            text
            if width is None
            else textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
        )


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
