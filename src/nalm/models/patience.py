"""A time limit for a user's code before the work begins: for importing a file and for trying out a unit.

After some seconds a message says what is waited for; after the limit it is given up. Where signals cannot be
used, in another thread or on Windows, there is no limit: in nalm's own processes the code has then already
run once.
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
    """A user's code exceeded its time limit; not an `Exception`, because that code may catch those."""


ESCAPES = (Exception, SystemExit, TooLong)
"""All errors of a user's code that are reported in one sentence."""


@contextlib.contextmanager
def limited(what: str) -> Iterator[None]:
    """Raise `TooLong` in a block that takes too long; an interruption in the block reports `what`.

    Args:
        what: what the block does, such as "importing ./mine.py".
    """
    with interrupts.during(what):
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return
        began, most = time.monotonic(), seconds()

        def alarm(number: int, frame: FrameType | None) -> None:
            spent = time.monotonic() - began
            if spent >= most:
                limit = f"the environment variable {VARIABLE} sets another limit"
                raise TooLong(f"not done after {spent:.0f} s; {limit}")
            print(f"Still {what} after {spent:.0f} s; the limit is {most:.0f} s.", file=sys.stderr)
            signal.setitimer(signal.ITIMER_REAL, most - spent, 1.0)  # every second, in case it is caught
            return None

        before = signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, min(SECONDS_TO_SAY, most), 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def seconds() -> float:
    """The limit in seconds, which an environment variable can raise for a slow machine."""
    text = os.environ.get(VARIABLE, "")
    try:
        found = float(text or SECONDS_TO_WAIT)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1e6:
        raise ArgumentError(VARIABLE, "a number of seconds above 0 and at most a million", repr(text))
    return found
