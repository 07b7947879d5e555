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

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = TextColumn("{task.fields[left]}")
    with Bar(*columns, left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("million steps", total=None, left="compiling")

        def update(progress: Progress) -> None:
            what, done, total = _counted(progress)
            said = _on_cluster(progress) + _pace(progress) + _left(progress)
            bar.update(task, description=what, total=total, completed=done, left=said)

        yield update


def _line() -> OnProgress:
    is_due = _clock()

    def on_progress(progress: Progress) -> None:
        if is_due():
            share, spent = progress.done / progress.total, duration(progress.seconds)
            so_far = "" if progress.epochs is None else f", {share * progress.epochs:.1f} epochs of all runs"
            rest = _on_cluster(progress) + _pace(progress) + _left(progress)
            say(f"{share:.0%} after {spent}{so_far}, {rest}.")

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


def _counted(progress: Progress) -> tuple[str, int, int]:
    """What is counted, how much of it is done, and how much there is: epochs of all runs, or steps."""
    if progress.epochs is None:
        return "million steps", progress.done // 10**6, progress.total // 10**6
    done = progress.epochs * progress.done / progress.total
    return "epochs of all runs", int(done), round(progress.epochs)


def _pace(progress: Progress) -> str:
    """Images per second, for tasks that have images."""
    pace = progress.steps_per_second
    if progress.images is None or pace is None:
        return ""
    return f"{pace * progress.images / progress.total:,.0f} images/s, "


def _left(progress: Progress) -> str:
    left = progress.seconds_left
    if left is not None:
        return f"{duration(left)} left"
    starts = progress.workers is None and progress.images is None
    return "compiling" if starts else "time left not known yet"
