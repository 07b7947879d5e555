"""Choose the executor: the processes of this machine, or the cluster given by `--scheduler`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nalm import interrupts
from nalm.cli.output import say
from nalm.errors import ArgumentError, check_positive

if TYPE_CHECKING:
    from nalm.experiment.executor import Executor


@contextlib.contextmanager
def chosen_executor(jobs: int | None, scheduler: str | None, device: str = "cpu") -> Iterator[Executor]:
    """The executor for these options; by default one process per core."""
    _check_device(device)
    if scheduler is None:
        with interrupts.importing():
            from nalm.experiment.local import Local
            from nalm.threads import cores

        yield Local(check_positive("jobs", cores() if jobs is None else jobs), device)
        return
    if jobs is not None:
        raise ArgumentError("jobs", "left out with --scheduler", repr(jobs))
    from nalm.experiment.cluster import Cluster

    with Cluster(scheduler, say, device) as cluster:
        yield cluster


def _check_device(device: str) -> None:
    """Refuse a device that torch does not know, before any work."""
    if device == "cpu":  # without importing torch
        return
    from nalm.units._options import check_device

    check_device(device)
