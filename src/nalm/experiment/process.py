"""A process of this machine that works for another one: never interrupted, and gone as soon as the other is.

A terminal interrupts all processes of a command together, and only the coordinating one knows how to react.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from nalm import interrupts


def start(work: Callable[[Connection], None]) -> tuple[Any, Connection]:
    """Start a process that calls `work` with its end of a connection; return it and the other end.

    Args:
        work: a function of a module, which the new process imports.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_main, args=(work, theirs, os.getpid()), daemon=True)
    resource_tracker.ensure_running()  # if it started inside the block, it would let interruptions through
    with interrupts.held():
        process.start()
    theirs.close()
    return process, ours


def _main(work: Callable[[Connection], None], connection: Connection, coordinator: int) -> None:
    os.dup2(2, 1)  # what a user's unit prints goes to stderr; only the coordinator writes results to stdout
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator decides what an interruption means
    threading.Thread(target=_end_with, args=(coordinator,), daemon=True).start()
    work(connection)


def _end_with(coordinator: int) -> None:
    """End this process, even in the middle of its work, once the coordinator is gone."""
    while os.getppid() == coordinator:
        time.sleep(0.5)
    os._exit(1)
