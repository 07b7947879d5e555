"""Ctrl-C, from the first moment of a command to its last: one sentence, exit code 130, no traceback.

A command starts, works and ends. While it starts it only imports, and while it ends everything is closed:
there an interruption ends the process on the spot. While it works the first interruption is raised, so that
stores are closed and processes ended, and a second one ends it on the spot. Only Python's own modules are
imported here, because others take time in which nobody would listen.
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
_AGAIN = 0.01
"""Seconds after which an interruption that was lost is raised again."""
_SHOW_CURSOR = "\x1b[?25h"
"""What gives a terminal its cursor back, which a progress bar hides."""
_met = threading.Event()
_doing: list[str] = []
_sentence = SENTENCE


def end_at_once() -> None:
    """From now on an interruption ends the process on the spot, with the sentence."""
    signal.signal(signal.SIGINT, _end)
    # First to be registered, last to be done: what Python does from there on is short and cannot be answered.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def raise_once() -> None:
    """From now on the first interruption is raised as a `KeyboardInterrupt`; the second ends the process."""
    signal.signal(signal.SIGINT, _raise)
    sys.unraisablehook = _raise_again


def finish(code: int) -> None:
    """From now on an interruption ends the process with the code that has been decided on, in silence."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a pipe that nobody reads, a stream that is closed
            stream.flush()
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(code))


def were_met() -> bool:
    """Whether there was an interruption, which may come out of other code as any error."""
    return _met.is_set()


@contextlib.contextmanager
def during(what: str) -> Iterator[None]:
    """An interruption in the block says what was done, such as "importing ./mine.py"."""
    _doing.append(what)
    try:
        yield
    finally:
        _doing.pop()


def sentence() -> str:
    """What to say about the interruption that was met."""
    return _sentence


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Interruptions wait until the end of the block; processes that are started in it are never interrupted.

    The processes of a terminal's command are all interrupted together, and only the first knows what to do.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    _note()
    # Not through Python's streams, which may be in the middle of a line.
    cursor = _SHOW_CURSOR if os.isatty(2) else ""
    with contextlib.suppress(OSError):
        os.write(2, f"{cursor}{_sentence}\n".encode())
    os._exit(CODE)


def _note() -> None:
    """Note what was done when the first interruption came."""
    global _sentence
    if not _met.is_set():
        what = f" while {_doing[-1]}" if _doing else ""
        _sentence = SENTENCE.replace("Interrupted", f"Interrupted{what}", 1)
    _met.set()


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    _note()
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


def _raise_again(lost: Any) -> None:
    """In a callback, as of a weak reference, no interruption can be raised: it comes again a little later."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGINT, _raise)
    later = threading.Timer(_AGAIN, _thread.interrupt_main)
    later.daemon = True
    later.start()
