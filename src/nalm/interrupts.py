"""Ctrl-C at any moment of a command: one sentence, exit code 130, no traceback.

A command starts, works and ends. While it starts it only imports, and while it ends everything is already
closed: in both phases an interruption ends the process at once. While it works, the first interruption is
raised, so that stores are closed and processes ended, and a second one ends the process at once. Only the
standard library is imported here, because other imports take time in which Ctrl-C would not be handled.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

CODE = 130
SENTENCE = "Interrupted. What was stored stays; the same command resumes from there."
NOTHING_KEPT = "Interrupted. Nothing was written."
_AGAIN = 0.01
"""Seconds after which a lost interruption is raised again."""
_SHOW_CURSOR = "\x1b[?25h"
"""The code that shows a terminal's cursor again, which a progress bar hides."""
_met = threading.Event()
_doing: list[tuple[str, str]] = []
_sentence = SENTENCE


def end_at_once() -> None:
    """From now on an interruption prints the sentence and ends the process at once."""
    signal.signal(signal.SIGINT, _end)
    # Registered first and therefore run last: what Python does after it is short and cannot be interrupted.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def raise_once() -> None:
    """From now on the first interruption is raised as a `KeyboardInterrupt`; the second ends the process."""
    signal.signal(signal.SIGINT, _raise)
    sys.unraisablehook = _raise_again


def finish(code: int) -> None:
    """From now on an interruption ends the process silently with this exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a pipe that nobody reads, a closed stream
            stream.flush()
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(code))


def were_met() -> bool:
    """Whether there was an interruption; other code may have turned it into any kind of error."""
    return _met.is_set()


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """In the block an interruption of a working command ends the process at once, as while it starts.

    Nothing is open yet when a command imports what it needs, and extension modules such as torch's may lose
    or mistake what is raised while they are imported.
    """
    if signal.getsignal(signal.SIGINT) is not _raise:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _raise)


@contextlib.contextmanager
def during(what: str, said: str = SENTENCE) -> Iterator[None]:
    """An interruption in the block reports what was being done, such as "importing ./mine.py".

    Args:
        what: what is done in the block.
        said: what else is said, beginning with "Interrupted".
    """
    _doing.append((what, said))
    try:
        yield
    finally:
        _doing.pop()


def sentence() -> str:
    """The sentence that reports the interruption."""
    return _sentence


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold interruptions back until the end of the block; processes started in it are never interrupted.

    A terminal interrupts all processes of a command together, and only the first one knows how to react.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _put_off():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _put_off() -> Iterator[None]:
    """Handle an interruption after the block that a thread of some library took for the whole process."""
    handler, came = signal.getsignal(signal.SIGINT), threading.Event()
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: came.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came.is_set():
            signal.raise_signal(signal.SIGINT)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _note()
    # Python's own streams are avoided: they may be in the middle of a line.
    cursor = _SHOW_CURSOR if os.isatty(2) else ""
    with contextlib.suppress(OSError):
        os.write(2, f"{cursor}{_sentence}\n".encode())
    os._exit(CODE)


def _note() -> None:
    """Note what was being done when the first interruption came."""
    global _sentence
    if not _met.is_set():
        what, said = _doing[-1] if _doing else ("", SENTENCE)
        _sentence = said.replace("Interrupted", f"Interrupted while {what}", 1) if what else said
    _met.set()


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    _note()
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


def _raise_again(lost: Any) -> None:
    """Raise an interruption again a little later if it came in a callback, where none can be raised."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGINT, _raise)
    later = threading.Timer(_AGAIN, _thread.interrupt_main)
    later.daemon = True
    later.start()
