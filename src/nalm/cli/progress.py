"""Progress: a bar on a terminal, a line every ten seconds in a pipe; both on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nalm.cli.output import duration, say

if TYPE_CHECKING:
    from nalm.experiment.executor import OnProgress, Progress

_PAUSE = 10
"""Seconds between two lines in a pipe."""


@contextlib.contextmanager
def shown_progress() -> Iterator[OnProgress]:
    """Show the progress that is reported in this block."""
    with _bar() if sys.stderr.isatty() else contextlib.nullcontext(_line()) as on_progress:
        yield on_progress


def now_and_then(what: str) -> Callable[[int, int], None]:
    """A callback that prints every ten seconds how many of how many are done."""
    is_due = _clock()

    def on_progress(done: int, total: int) -> None:
        if is_due():
            say(f"{done} of {total} {what}.")

    return on_progress


@contextlib.contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("million steps"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = TextColumn("{task.fields[left]}")
    with Bar(*columns, left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("train", total=None, left="compiling")

        def update(progress: Progress) -> None:
            steps, done = progress.total // 10**6, progress.done // 10**6
            bar.update(task, total=steps, completed=done, left=_on_cluster(progress) + _left(progress))

        yield update


def _line() -> OnProgress:
    is_due = _clock()

    def on_progress(progress: Progress) -> None:
        if is_due():
            share, spent = progress.done / progress.total, duration(progress.seconds)
            say(f"{share:.0%} after {spent}, {_on_cluster(progress)}{_left(progress)}.")

    return on_progress


def _clock() -> Callable[[], bool]:
    """A function that returns True if enough time has passed since it last did."""
    last = time.monotonic()

    def is_due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < _PAUSE:
            return False
        last = now
        return True

    return is_due


def _on_cluster(progress: Progress) -> str:
    """Workers and chunks, which only a cluster reports."""
    if progress.workers is None:
        return ""
    workers = f"{progress.workers} worker{'' if progress.workers == 1 else 's'}"
    return f"{workers}, {progress.chunks_done} of {progress.chunks} chunks, "


def _left(progress: Progress) -> str:
    left = progress.seconds_left
    if left is not None:
        return f"{duration(left)} left"
    return "compiling" if progress.workers is None else "time left not known yet"
