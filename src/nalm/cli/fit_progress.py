"""Progress of a search: the best formula so far, under a clock on a terminal, line by line in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nalm.cli.output import PIPE_WIDTH, say
from nalm.report.short_formula import in_lines, with_few_digits

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_PAUSE = 1.0
"""Seconds between two lines in a pipe, at least."""
_LINES = 4
"""The most lines that a formula takes on a terminal; what is longer is cut there."""


class Search:
    """What a search has reported so far."""

    def __init__(self, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self.began = time.monotonic()
        self.best: Any = None
        self.stage = "reading"
        self.on_better: Any = None
        self._seconds = 0.0
        self._has_begun = False

    def report(self, progress: Any) -> None:
        """Take a report: of a better formula, or of a stage that begins."""
        self.stage = progress.stage or self.stage
        if not self._has_begun:  # reading and importing are no part of the time that was asked for
            self._has_begun, self.began = True, time.monotonic() - progress.seconds
        if progress.seconds < self._seconds:  # the clock of the next target
            self.best = None
        self._seconds = progress.seconds
        if progress.expression is None:
            return
        is_better = self.best is None or progress.error < self.best.error
        if is_better:
            self.best = progress
            if self.on_better is not None:
                self.on_better(progress)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The clock, and under it the formula."""
        from rich.text import Text

        spent = time.monotonic() - self.began
        yield Text(
            f"{spent:.0f} s of at most {self.max_seconds:g} s, {self.stage}",
            no_wrap=True,
            overflow="ellipsis",
        )
        if self.best is None:
            yield Text("no formula yet")
            return
        yield Text(f"best so far, relative error {self.best.error:.1e}:")
        for line in in_lines(with_few_digits(str(self.best.expression)), options.max_width, _LINES):
            yield Text(line)  # not markup: names of columns may have brackets


@contextlib.contextmanager
def shown_search(search: Search) -> Iterator[None]:
    """Show what a search reports in this block, on standard error."""
    if not sys.stderr.isatty():
        search.on_better = _line()
        yield
        return
    from rich.console import Console
    from rich.live import Live

    with Live(search, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield


def _line() -> Any:
    """A callback that prints a better formula, if nothing was printed for a while."""
    last = time.monotonic()  # a search that ends at once prints none

    def on_better(progress: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _PAUSE:
            return
        last = now
        formula = with_few_digits(str(progress.expression))
        line = f"{progress.seconds:.1f} s: relative error {progress.error:.1e}, {formula}"
        say(*in_lines(line, PIPE_WIDTH, 1))

    return on_better
