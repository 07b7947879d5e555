"""How long a user's code may take before the work begins: a file that is imported, a unit that is tried out.

After some seconds it is said what is waited for; after many it is given up. Where signals cannot be used, in
another thread or on Windows, there is no limit: in this library's own processes the code has then been run
once before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

from nalm import interrupts
from nalm.errors import ArgumentError

VARIABLE = "NALM_IMPORT_SECONDS"
SECONDS_TO_SAY, SECONDS_TO_WAIT = 10.0, 60.0


class TooLong(BaseException):
    """A user's code has used up its time; not an `Exception`, which that code may catch."""


ESCAPES = (Exception, SystemExit, TooLong)
"""All that may come out of a user's code and is told in a sentence."""


@contextlib.contextmanager
def limited(what: str) -> Iterator[None]:
    """Raise `TooLong` in a block that takes too long; an interruption in it says what was done.

    Args:
        what: what is done, such as "importing ./mine.py".
    """
    with interrupts.during(what):
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return
        began, most = time.monotonic(), seconds()

        def alarm(number: int, frame: FrameType | None) -> None:
            spent = time.monotonic() - began
            if spent >= most:
                raise TooLong(f"not done after {spent:.0f} s; the variable {VARIABLE} sets another limit")
            print(f"Still {what} after {spent:.0f} s; it is given up after {most:.0f} s.", file=sys.stderr)
            signal.setitimer(signal.ITIMER_REAL, most - spent, 1.0)  # again and again, if it is caught
            return None

        before = signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, min(SECONDS_TO_SAY, most), 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def seconds() -> float:
    """The limit, which a slow machine may set higher."""
    text = os.environ.get(VARIABLE, "")
    try:
        found = float(text or SECONDS_TO_WAIT)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1e6:
        raise ArgumentError(VARIABLE, "a number of seconds above 0 and at most a million", repr(text))
    return found
