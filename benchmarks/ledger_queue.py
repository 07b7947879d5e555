"""The queue of the ledger: which entry is trained next, and with how many seeds.

An entry of a few minutes is trained as in the paper. One of five million steps takes hours per round of
seeds: a few seeds of every cell come first, so that everything has a number, then ten, because those say more
than the same hours spent on a hundred seeds of one table. Small entries come before large ones, and what
others share before what is of use alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Grid
from nalm.papers.ledger import keep, kept_result
from nalm.papers.reproduce import plan
from nalm.papers.scale import make_scale

_MINUTES = (
    *(f"trask2018:{place}" for place in ("table1", "table5", "table6", "table7", "table8", "table9", "fig1")),
    *(f"mistry2023:fig6.{k}" for k in (6, 7, 8)),
    *(f"mistry2023:figG.{k}" for k in range(5, 10)),
)
_TABLES = ("madsen2020:table5", "madsen2020:fig9", "madsen2020:table6")
_FIGURES = (
    *("mistry2023:fig4.7", "mistry2023:fig6.2", "madsen2020:fig3"),
    *("mistry2023:fig4.8", "mistry2023:fig6.3", "madsen2020:fig7", "madsen2020:fig8"),
)
_SMALL = ("heim2020:table2", "mistry2023:table3.1", *(f"madsen2020:fig{k}" for k in (10, 11, 12)))
"""Less than ten minutes per seed."""
_FOREMOST = "madsen2020:table2"
"""The table that all who compare units cite."""


@dataclass(frozen=True)
class Stage:
    """An entry to be trained with at least so many seeds; None for the paper's number."""

    entry: str
    seeds: int | None = None

    @property
    def is_done(self) -> bool:
        """Whether the kept result has all cells, with enough seeds."""
        result = kept_result(self.entry)
        if result is None or result["protocol"] == "quick":
            return False
        whole = not any(note.startswith(("cells: ", "rows: ")) for note in result["reduced"])
        return whole and min((n for *_, n in result["findings"]), default=1) >= (self.seeds or 1)


STAGES = (
    *map(Stage, _MINUTES),
    Stage(_FOREMOST, 5),
    *(Stage(entry, 1) for entry in (*_SMALL, *_FIGURES, *_TABLES)),
    *(Stage(entry, seeds) for seeds in (2, 3) for entry in (*_SMALL, *_TABLES)),
    *(Stage(_FOREMOST, seeds) for seeds in (10, 20)),
    *(Stage(entry, 3) for entry in _FIGURES),
    *(Stage(entry, 10) for entry in (*_SMALL, *_TABLES, *_FIGURES)),
)
"""What is worth most comes first."""


def waiting() -> Iterator[Stage]:
    """Every stage that is not done, also those that never were: entries without a result come last."""
    yield from (stage for stage in STAGES if not stage.is_done)
    named = {stage.entry for stage in STAGES}
    yield from (Stage(name) for name in ENTRIES if name not in named and kept_result(name) is None)


def work(hours: float, store: Path) -> None:
    """Train stage after stage until the hours are over, and keep what there is of each."""
    end = time.monotonic() + 3600 * hours
    for stage in list(waiting()):
        left = end - time.monotonic()
        if left <= 0:
            break
        print(f"{stage.entry}, {stage.seeds or 'all'} seeds: {left / 3600:.1f} h left.", flush=True)
        seconds = _train(stage, store, left) if _is_missing(stage, store) else 0.0
        if (result := _measure(stage, store)) is not None and _says_more(result, kept_result(stage.entry)):
            keep(_with_time(result, seconds))


def _is_missing(stage: Stage, store: Path) -> bool:
    """Whether runs are to be trained; an entry that trains nothing is run as well."""
    planned = plan(ENTRIES[stage.entry], make_scale(seeds=stage.seeds), store, 1)
    return planned["computed_runs"] != 0


def _says_more(result: dict[str, Any], kept: dict[str, Any] | None) -> bool:
    """Whether a result has more runs behind its numbers than the one that is kept."""
    return (
        kept is None or _runs(result) > _runs(kept) or result["numerics_version"] > kept["numerics_version"]
    )


def _runs(result: dict[str, Any]) -> int:
    return sum(n for *_, n in result["findings"])


def _train(stage: Stage, store: Path, seconds: float) -> float:
    """Train what is missing for at most so long; return the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        asked = [*_command(stage, store), *_seeds(stage), "--figures", folder]
        process = subprocess.Popen(
            ["nice", "-n", "10", *asked, "--json", f"{folder}/result.json"], start_new_session=True
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass  # the hours are over
        finally:
            _end(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command that still runs, and its workers; what it has finished is stored."""
    # Not SIGINT, which commands in the background ignore.
    while process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def _seeds(stage: Stage) -> list[str]:
    return [] if stage.seeds is None else ["--seeds", str(stage.seeds)]


def _measure(stage: Stage, store: Path) -> dict[str, Any] | None:
    """The result of all stored runs, or None if there is none yet."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        # A grid is measured with all stored seeds, however many each of its cells has.
        seeds = [] if _is_grid(stage) else _seeds(stage)
        asked = [*_command(stage, store), *seeds, "--stored", "--figures", folder, "--json", str(file)]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode:
            print(done.stderr.strip(), flush=True)
            return None
        result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result if result["findings"] else None


def _is_grid(stage: Stage) -> bool:
    return isinstance(ENTRIES[stage.entry], Grid)


def _command(stage: Stage, store: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("nalm")), "reproduce", stage.entry, "--store", str(store)]


def _with_time(result: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The result with the processor time of this and earlier rounds, as far as they were measured."""
    earlier = (kept_result(result["id"]) or {}).get("compute", {}).get("cpu_seconds") or 0.0
    return {**result, "compute": {**result["compute"], "cpu_seconds": round(earlier + seconds) or None}}
