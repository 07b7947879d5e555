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
    """Restrict torch operations of this thread to one core.

    On small tensors two cores are slower than one, and two processes are twice as fast. The caller's other
    threads keep their number of cores, and so do threads that are started meanwhile. Everything that the
    calling thread itself does inside, such as reporting progress, uses one core as well.
    """
    with _LOCK:  # a thread that uses torch for the first time takes over the number of the process
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
    """Set the number of cores of this thread alone.

    Torch keeps one number per thread and one for the process, which a thread takes over when it first uses
    torch. Setting a thread's number sets both, so a helper thread restores that of the process. A thread
    that first uses torch in the microseconds in between gets the wrong number.
    """
    with _LOCK, ThreadPoolExecutor(1) as helper:
        process = helper.submit(torch.get_num_threads).result()
        torch.set_num_threads(number)
        helper.submit(torch.set_num_threads, process).result()


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
