"""Remembered answers: a benchmark whose runs are all stored and unchanged is answered without torch.

An answer is used only if the runs that it rests on are in the store as they were; their curves are checked
for damage like those of any benchmark. A damaged answer is not used either, and is made again.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm.experiment.answers import may_have
from nalm.experiment.request import Request
from nalm.experiment.store import Store
from nalm.experiment.store_error import StoreError

if TYPE_CHECKING:
    from nalm.experiment.bench import Experiment

_UNREADABLE = (OSError, EOFError, ValueError, zlib.error)
"""What damaged answers raise; gzip's checksum notices every changed byte. Errors of JSON are ValueErrors."""


def remembered(path: Path, request: Request) -> dict[str, Any] | None:
    """The JSON of a benchmark, if the store remembers it and its runs are unchanged; otherwise None."""
    began = time.perf_counter()
    if not may_have(path, request.name):
        return None
    with Store(path) as store:
        held = _read(store.answer(request.name))
        if held is None:
            return None
        store.known(held["runs"])  # a damaged curve is an error
        if store.state(held["runs"]) != held["state"]:
            return None
    result: dict[str, Any] = held["result"]
    return {**result, "seconds": time.perf_counter() - began}


def remember(store: Store, request: Request, experiment: Experiment, result: dict[str, Any]) -> None:
    """Remember the JSON of a benchmark whose runs are all stored.

    Only units and tasks of nalm itself are remembered: the name of a request stands for their code, and for
    no other. An answer that cannot be stored, as on a full disk, is no fault: it is there to be printed.
    """
    if not _is_ours(experiment):
        return
    runs = sorted({run.id for run in experiment.runs()})
    stored = {"computed_runs": 0, "stored_runs": len(runs), "run_steps_per_second": None}
    with contextlib.suppress(StoreError):
        held = {"runs": runs, "state": store.state(runs), "result": {**result, **stored}}
        text = json.dumps(held, allow_nan=False)
        store.keep_answer(request.name, gzip.compress(text.encode(), mtime=0))


def _is_ours(experiment: Experiment) -> bool:
    from nalm.tasks import TASKS

    kind = TASKS.get(experiment.task)
    return all(type(case.task) is kind and not case.model.is_users for case in experiment.cases)


def _read(answer: bytes | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    try:
        held = json.loads(gzip.decompress(answer))
    except _UNREADABLE:
        return None
    return held if isinstance(held, dict) and held.keys() >= {"runs", "state", "result"} else None
