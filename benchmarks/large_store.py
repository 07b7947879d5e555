"""How long a report of a store of a million runs takes, and how much memory.

python benchmarks/large_store.py [--runs N] [--lines N] [--store FILE] [--json FILE]

The store is made of invented runs: every line is a unit on an operation and a range, and half of its seeds
are solved. What is measured is the command, in a process of its own. A store that is there is used as it is;
one that is made without `--store` is deleted in the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from nalm.experiment.bench import make_experiment
from nalm.experiment.record import COLUMNS, Record, checksums, encoded
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store

CHUNK = 50_000
"""Runs that are stored at a time."""
KINDS = 40
"""Runs of a line that differ in more than their seeds; every second one is solved."""
STEPS = np.arange(0, 50_001, 1000)


def main() -> None:
    """Make the store, measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=270)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--json", default=None, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.store or Path(folder) / "runs.sqlite"
        if not path.exists():
            fill(path, arguments.runs, arguments.lines)
        result = {"store_gigabytes": path.stat().st_size / 1e9, **measure(path, Path(folder) / "report.html")}
    text = json.dumps(result, indent=2)
    if arguments.json not in (None, "-"):
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    print(text)


def measure(store: Path, output: Path) -> dict[str, Any]:
    """Run the command, and ask the system what it took."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "nalm", "report", "--store", str(store), "-o", str(output)]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"nalm report ended with code {os.waitstatus_to_exitcode(status)}.")
    return {
        "wall_seconds": time.perf_counter() - began,
        "user_seconds": used.ru_utime,
        "system_seconds": used.ru_stime,
        "peak_gibibytes": used.ru_maxrss / 2**20,
        "page_megabytes": output.stat().st_size / 1e6,
    }


def fill(path: Path, runs: int, lines: int) -> None:
    """Store invented runs, seed by seed; past the store's own writing, which would take an hour."""
    cases = list(islice(_cells(), lines))
    kinds = [[dict(zip(COLUMNS, encoded(_record(case, kind)))) for kind in range(KINDS)] for case in cases]
    Store(path).close()
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for done in range(0, runs, CHUNK):
            rows = (
                _row(cases[k % lines], kinds[k % lines], k // lines)
                for k in range(done, min(done + CHUNK, runs))
            )
            with connection:
                connection.executemany(f"INSERT INTO runs VALUES ({marks})", rows)
            print(f"{done:,} of {runs:,} runs stored", file=sys.stderr)


def _row(case: Case, kinds: list[dict[str, Any]], seed: int) -> list[Any]:
    """A run of one of some kinds, with its own seed and name."""
    values = {**kinds[seed % KINDS], "id": Run(case, seed).id, "seed": seed}
    return [*values.values(), checksums(values)]


def _cells() -> Iterator[Case]:
    """The lines of the standard benchmark, and those again with fewer steps."""
    cases = make_experiment("single-module", seeds=1).cases
    for fewer in count():
        yield from (replace(case, iterations=50_000 - fewer) for case in cases)


def _record(case: Case, kind: int) -> Record:
    """A run that goes to the ideal weights, or half way."""
    random = np.random.default_rng(kind)
    unit = case.build()
    case.task.ideal_(unit, 0)
    solved = kind % 2 == 0
    off = np.float32(random.exponential(1e-4) if solved else 0.5)
    reached = {name: value.detach().numpy() * (1 - off) for name, value in unit.named_parameters()}
    share = np.minimum(1, np.linspace(0, 1 + random.random(), len(STEPS))).astype(np.float32)
    errors = np.geomspace(1.0, 1e-14 if solved else 1e-2, len(STEPS)) ** (0.8 + 0.4 * random.random())
    return Record(
        id=Run(case, 0).id,
        task=case.task.name,
        model=str(case.model),
        labels=case.task.labels(),
        seed=0,
        iterations=case.recipe.iterations,
        identity=case.identity,
        machine={"nalm": "0.7.0", "torch": "2", "cpu_capability": "AVX2", "compiled": True},
        steps=STEPS,
        validation=errors,
        test=2 * errors,
        chosen=len(STEPS) - 1,
        diverged_at=-1,
        reinitialised=0,
        sparsity=float(off),
        sparsity_with_gates=float(off),
        ideal_validation=1e-3,
        ideal_test=1e-3,
        chosen_parameters=reached,
        final_parameters={},
        history_steps=STEPS,
        history={name: np.multiply.outer(share, value) for name, value in reached.items()},
        computed_at="2026-01-02T03:04:05+00:00",
        cost={},
        errors={},
    )


if __name__ == "__main__":
    main()
