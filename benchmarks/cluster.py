"""What a Dask cluster costs: chunks of no work, and the standard benchmark on workers and on processes.

python benchmarks/cluster.py [--chunks N] [--workers N] [--rounds N] [--seeds N] [--stored N] [--json FILE]

A real scheduler and worker processes on this machine. `--chunks`: that many jobs of the size of a chunk that
compute nothing: time for each, largest memory of coordinator and scheduler. `--rounds`: the work of `make
bench`, so often by two local processes and by two workers in turn, from compiled programs; best of each.
`--stored`: how fast the coordinator takes so many finished runs of the single-module task into a store.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pickle
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from nalm.experiment.bench import do_work, make_experiment, make_work
from nalm.experiment.cluster import Cluster
from nalm.experiment.cluster_worker import facts
from nalm.experiment.compute import compute
from nalm.experiment.executor import Executor
from nalm.experiment.local import Local
from nalm.experiment.plan import make_plan
from nalm.experiment.store import Store

UNITS = "nac,nac-mul,nalu,gnalu,inalu,nau,nmu,snmu,npu,realnpu,realnpu@modified,nru,nmru"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--stored", type=int, default=20_000)
    parser.add_argument("--json", default=None, metavar="FILE")
    given = parser.parse_args()
    result: dict[str, Any] = {"workers": given.workers}
    if given.chunks:
        result["no work"] = no_work(given.chunks, given.workers)
    if given.rounds:
        result["standard benchmark"] = standard(given.rounds, given.workers, given.seeds)
    if given.stored:
        result["storing"] = storing(given.stored)
    text = json.dumps(result, indent=2)
    if given.json not in (None, "-"):
        Path(given.json).write_text(text + "\n", encoding="utf-8")
    print(text)


def no_work(chunks: int, workers: int) -> dict[str, Any]:
    """Seconds a chunk and memory, of jobs that are as large as those of a chunk."""
    experiment = make_experiment("single-module", ["nmu"], None, None, seeds=10)
    job = pickle.dumps((make_plan(experiment.runs(), 1)[0], facts()))
    with cluster(workers) as (connected, scheduler):
        began, done = time.perf_counter(), 0
        for _ in connected.run(lambda job: b"", (job for _ in range(chunks)), lambda: None):
            done += 1
            if done % 10_000 == 0:
                print(f"{done} chunks after {time.perf_counter() - began:.0f} s", file=sys.stderr)
        seconds = time.perf_counter() - began
        return {
            "chunks": done,
            "seconds": seconds,
            "milliseconds a chunk": 1000 * seconds / done,
            "bytes a job": len(job),
            "coordinator MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "scheduler MiB": largest_memory(scheduler),
        }


def standard(rounds: int, workers: int, seeds: int) -> dict[str, Any]:
    """Seconds for the work of `make bench` by local processes and by workers."""
    experiment = make_experiment("single-module", UNITS.split(","), seeds=seeds)
    times: dict[str, list[float]] = {"processes": [], "workers": []}
    for _ in range(rounds):
        times["processes"].append(_seconds(experiment, Local(workers)))
        with cluster(workers) as (connected, _):
            times["workers"].append(_seconds(experiment, connected))
        print(times, file=sys.stderr)
    best = {name: min(values) for name, values in times.items()}
    return {**times, "overhead": best["workers"] / best["processes"] - 1}


def storing(runs: int) -> dict[str, Any]:
    """How fast finished runs are unpacked and stored, in chunks of 500."""
    experiment = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=500)
    records = compute(make_plan(experiment.runs(), 1)[0])
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.sqlite") as store:
        spent, size = 0.0, 0
        for chunk in range(runs // len(records)):
            packed = pickle.dumps([replace(each, id=f"{chunk} {k}") for k, each in enumerate(records)])
            began = time.perf_counter()
            store.add(pickle.loads(packed))
            spent += time.perf_counter() - began
            size = len(packed)
        stored = runs // len(records) * len(records)
        held = (Path(folder) / "runs.sqlite").stat().st_size
    return {
        "runs a second": stored / spent,
        "bytes a run on the way": size / len(records),
        "bytes a run in the store": held / stored,
    }


def _seconds(experiment: Any, executor: Executor) -> float:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.sqlite") as store:
        began = time.perf_counter()
        do_work(make_work(experiment, store, executor.size), store, executor)
        return time.perf_counter() - began


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[tuple[Cluster, subprocess.Popen[bytes]]]:
    """A scheduler and workers, each a process, and the connection to them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    arguments = ("--nthreads", "1", "--no-nanny", "--death-timeout", "60")
    processes = [_dask("scheduler", "--port", port, "--idle-timeout", "1h")]
    processes += [_dask("worker", address, *arguments) for _ in range(workers)]
    try:
        with Cluster(address) as connected:
            while connected.size < workers:
                time.sleep(0.1)
            yield connected, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _dask(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    code = f"from distributed.cli.dask_{kind} import main; main()"
    command = [sys.executable, "-c", code, *arguments, "--host", "127.0.0.1", "--no-dashboard"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def largest_memory(process: subprocess.Popen[bytes]) -> float:
    """The largest memory that a process has had, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
