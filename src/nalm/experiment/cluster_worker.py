"""What a worker of a cluster does, and the check that its numbers are the same as here.

Chunks and records are sent as bytes that only the workers and the coordinating process read, so that the
scheduler needs no nalm.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nalm._version import NUMERICS_VERSION
from nalm.errors import NalmError
from nalm.experiment.checkpoints import is_next_to_its_store
from nalm.experiment.executor import portable
from nalm.experiment.plan import Chunk
from nalm.experiment.store import Record


class ClusterError(NalmError):
    """A cluster cannot be used, or is gone."""


def facts() -> dict[str, Any]:
    """What a worker must have in common with the coordinating process."""
    import torch

    return {
        "nalm numerics version": NUMERICS_VERSION,
        "torch version": torch.__version__,
        "CPU capability": torch.backends.cpu.get_cpu_capability(),
    }


def check_facts(ours: dict[str, Any], theirs: dict[str, Any], worker: str) -> None:
    """Refuse a worker whose facts differ, naming both values."""
    apart = [
        f"its {name} is {theirs.get(name, 'unknown')}, here it is {value}"
        for name, value in ours.items()
        if theirs.get(name) != value
    ]
    if apart:
        raise ClusterError(f"Worker {worker} cannot be used: {'; '.join(apart)}.")


def packed(
    chunk: Chunk, wanted: dict[str, Any], checkpoints: Path | None = None, device: str = "cpu"
) -> bytes:
    """A chunk as bytes, with the facts that its worker must have, the folder for checkpoints, the device."""
    return pickle.dumps((wanted, (checkpoints, device), pickle.dumps(chunk)))


def unpacked(result: bytes) -> list[Record]:
    """The records of a chunk, from the bytes that a worker sent."""
    records: list[Record] = pickle.loads(result)
    return records


_ALONE = threading.Lock()
"""A process computes one chunk at a time, even if its worker has several threads."""


def compute_packed(job: bytes, worker: str) -> bytes:
    """On a worker: the records of a chunk."""
    from nalm.experiment.compute import compute

    with _ALONE:
        wanted, settings, chunk = pickle.loads(job)
        check_facts(wanted, facts(), worker)  # it may have joined after the others were checked
        checkpoints, device = settings
        if checkpoints is not None and not is_next_to_its_store(checkpoints):
            checkpoints = None  # on another file system they would be neither found again nor deleted
        try:
            return pickle.dumps(compute(pickle.loads(chunk), checkpoints=checkpoints, device=device))
        except Exception as error:
            raise portable(error) from None


def compute_on_worker() -> Callable[[bytes], bytes]:
    """The function that a worker calls with a packed chunk; it returns the packed records."""

    # A nested function is pickled by its code, not by its name, so that the scheduler needs no nalm.
    def on_worker(job: bytes) -> bytes:
        from distributed import get_worker

        address = get_worker().address
        try:
            from nalm.experiment import cluster_worker
        except ImportError as error:
            raise RuntimeError(f"worker {address} cannot import nalm: {error}") from None
        return cluster_worker.compute_packed(job, address)

    return on_worker


def facts_on_worker() -> Callable[[], dict[str, Any]]:
    """The function that a worker calls to return its facts."""

    def on_worker() -> dict[str, Any]:
        from nalm.experiment import cluster_worker

        return cluster_worker.facts()

    return on_worker
