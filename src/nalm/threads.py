"""How many threads torch uses, and how many processes there is room for."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import torch

_LOCK = threading.Lock()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let this thread's operations use one core: on these small tensors two are slower, and two processes
    twice as fast.

    The caller's other threads keep their number, and so do threads that are started meanwhile. What the
    calling thread itself does inside, such as reporting progress, uses one core as well.
    """
    with _LOCK:  # a thread that uses torch for the first time takes the number of the process over
        before = torch.get_num_threads()
    if before == 1:
        yield
        return
    _set_here(1)
    try:
        yield
    finally:
        _set_here(before)


def _set_here(number: int) -> None:
    """Set the number of this thread alone.

    Torch keeps a number per thread, and one for the process, which a thread takes over when it first uses
    torch. Setting a thread's number sets both: another thread therefore puts that of the process back. A
    thread that first uses torch in the microseconds between gets the wrong one.
    """
    with _LOCK, ThreadPoolExecutor(1) as helper:
        process = helper.submit(torch.get_num_threads).result()
        torch.set_num_threads(number)
        helper.submit(torch.set_num_threads, process).result()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
