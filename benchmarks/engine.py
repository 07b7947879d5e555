"""How fast the engine trains: the same work four ways in one run.

1. The usual way: one seed a process, eager PyTorch, the textbook loop without logging (`textbook.py`).
2. Batched eager: the engine's own step for all runs at once, not compiled.
3. The engine: compiled.
4. The limit: the same mathematics written by hand (`limit.cpp`), compiled on the spot if there is a compiler.

All of them keep both cores busy: two processes at a time. Every figure is microseconds of one core per run
and step (the time of the slower process over its own runs and steps), the best of several rounds.

    python benchmarks/engine.py                  # the table
    python benchmarks/engine.py --against PATH   # `make bench` of another checkout and of this one, in turn
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import textbook
from bench import compare
from nalm.engine.batch import Batch, Settings
from nalm.models import ModelSpec
from nalm.models.many import Models
from nalm.tasks import ArithmeticDataset, SingleModule, Task
from nalm.trained import RunGroup
from nalm.training.trainers import train_runs

PROCESSES = 2
ROUNDS = 5
NARROW = 10
"""Runs of a narrow batch."""


@dataclass(frozen=True)
class Case:
    """What is trained."""

    unit: str
    inputs: int
    runs: int
    steps: int

    @property
    def spec(self) -> ModelSpec:
        """The model."""
        return ModelSpec.parse(self.unit)

    @property
    def op(self) -> str:
        """The operation that is learnt: the first that the last unit can express."""
        return self.spec.units[-1].ops[0]

    def task(self) -> Task:
        """The task."""
        if len(self.spec.units) > 1:
            return ArithmeticDataset(self.op, inputs=self.inputs)
        return SingleModule(self.op, inputs=self.inputs)

    def model(self) -> nn.Module:
        """A fresh model."""
        return self.spec.build(self.inputs, 1)


CASES = (
    Case("nmu", 2, 2048, 1000),
    Case("nau", 2, 2048, 1000),
    Case("nalu", 2, 2048, 1000),
    Case("realnpu", 2, 2048, 1000),
    Case("nmu", 10, 512, 1000),
    Case("nau+nmu", 100, 64, 2000),
)
LIMITED = {("nmu", 2): "nmu", ("nau+nmu", 100): "nau+nmu"}
"""The cases that `limit.cpp` has, by its names for them."""
GROWTH = (25, 100, 225, 1000, 2500, 5000, 10_000)


# -- four ways -----------------------------------------------------------------------------------


def usual(case: Case, steps: int = 2000) -> float:
    """Microseconds per step of the textbook loop for one seed."""
    torch.manual_seed(0)
    rate = case.spec.make_recipe(case.op, case.inputs).optimiser.learning_rate
    train = textbook.loop(textbook.parts(case.unit, case.inputs), _target(case), case.inputs, rate)
    train(200)
    return _best(lambda: train(steps)) / steps * 1e6


def _target(case: Case) -> Callable[[Tensor], Tensor]:
    task = case.task()
    if isinstance(task, ArithmeticDataset):
        first, second = torch.as_tensor(task.subsets(0), dtype=torch.float32)
        return lambda x: ((x @ first) * (x @ second))[:, None]
    operation = {"add": torch.add, "mul": torch.mul}[case.op]
    return lambda x: operation(x[:, :1], x[:, 1:2])


def batched(case: Case) -> float:
    """Microseconds per run and step of the engine's step, eagerly."""
    share = case.runs // PROCESSES
    return _step_seconds(case, share, max(5, case.steps // 50), compiled=False) / share * 1e6


def engine(case: Case) -> float:
    """Microseconds per run and step of the engine's step, compiled."""
    share = case.runs // PROCESSES
    return _step_seconds(case, share, case.steps, compiled=True) / share * 1e6


def narrow(case: Case) -> float:
    """The same with few runs in each process."""
    return _step_seconds(case, NARROW, case.steps, compiled=True) / NARROW * 1e6


def limit(program: Path) -> dict[str, float]:
    """Microseconds per run and step of the steps written by hand, by name."""
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {name: float(value) for name, value, *_ in rows}


def _step_seconds(case: Case, runs: int, steps: int, compiled: bool) -> float:
    """Seconds per step of all runs side by side."""
    task, recipe = case.task(), case.spec.make_recipe(case.op, case.inputs)
    device, dtype = torch.device("cpu"), torch.float32
    settings = Settings(iterations=steps, log_interval=steps, dtype=dtype, device=device, compiled=compiled)
    model = case.model()
    group = RunGroup(model, [task] * runs, [recipe] * runs, list(range(runs)), None)
    batch = Batch(Models(model, dtype, device), group, settings)
    batch.advance(0, 5)
    return _best(lambda: batch.advance(0, steps)) / steps


def growth(runs: int) -> dict[str, Any]:
    """Time and peak memory of a whole training of so many runs, evaluations included, in a fresh process."""
    case = Case("nmu", 2, runs, 1000)
    recipe = case.spec.make_recipe(case.op, 2)
    task = case.task()

    def run(steps: int) -> float:
        began = time.perf_counter()
        train_runs(
            case.model(), [task] * runs, [recipe] * runs, list(range(runs)),
            iterations=steps, log_interval=steps,
        )  # fmt: skip
        return time.perf_counter() - began

    run(1)
    seconds = min(run(case.steps) for _ in range(ROUNDS))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"runs": runs, "engine_us": seconds / (runs * case.steps) * 1e6, "peak_mib": peak}


def _best(work: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


# -- all of them ---------------------------------------------------------------------------------


def _one_thread() -> None:
    torch.set_num_threads(1)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _limits(pool: Any) -> dict[str, float]:
    """The limits of this machine by name; empty without a C++ compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        _say("No C++ compiler: the limit is left out.")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limit"
        source = Path(__file__).with_name("limit.cpp")
        flags = ["-O3", "-march=native", "-ffast-math", "-std=c++17"]
        subprocess.run([compiler, *flags, "-o", str(program), str(source)], check=True)
        found = pool.map(limit, [program] * PROCESSES, chunksize=1)
    return {name: max(each[name] for each in found) for name in LIMITED.values()}


def measure(cases: tuple[Case, ...], sizes: tuple[int, ...]) -> dict[str, Any]:
    """All figures."""
    _one_thread()
    context = multiprocessing.get_context("spawn")
    rows = []
    with context.Pool(PROCESSES, initializer=_one_thread) as pool:
        for case in cases:
            rows.append(_row(case, pool))
            _say(_line(rows[-1]))
    grown = []
    for size in sizes:
        with context.Pool(1, initializer=_one_thread) as pool:
            grown.append(pool.apply(growth, (size,)))
        _say(f"{size:6} runs: {grown[-1]['engine_us']:6.3f} us, peak {grown[-1]['peak_mib']:6.0f} MiB")
    return {"cases": rows, "growth": grown}


def _row(case: Case, pool: Any) -> dict[str, Any]:
    """The figures of one case, all within the same minutes."""
    row: dict[str, Any] = {"unit": case.unit, "inputs": case.inputs, "runs": case.runs}
    for way in (usual, batched, engine, narrow):
        row[f"{way.__name__}_us"] = max(pool.map(way, [case] * PROCESSES, chunksize=1))
    named = LIMITED.get((case.unit, case.inputs))
    row["limit_us"] = _limits(pool).get(named) if named else None
    row["ratio"] = row["usual_us"] / row["engine_us"]
    row["of_limit"] = row["engine_us"] / row["limit_us"] if row["limit_us"] else None
    row["narrow_ratio"] = row["narrow_us"] / row["engine_us"]
    return row


def _line(row: dict[str, Any]) -> str:
    by_hand = f", {row['of_limit']:.2f} x the limit of {row['limit_us']:.3f} us" if row["limit_us"] else ""
    return (
        f"{row['unit']:8} {row['inputs']:4} inputs: usual {row['usual_us']:7.1f} us, batched "
        f"{row['batched_us']:7.2f} us, engine {row['engine_us']:7.3f} us, ratio {row['ratio']:6.0f}; "
        f"{NARROW} runs {row['narrow_ratio']:.2f} x{by_hand}"
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE; - is standard output")
    parser.add_argument("--only", metavar="UNIT", help="measure the cases of this unit only, without growth")
    parser.add_argument(
        "--against", metavar="PATH", help="time `make bench` of the checkout at PATH and of this one"
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="how often --against trains with compiled programs"
    )
    arguments = parser.parse_args()
    if arguments.against is not None:
        figures: Any = compare(Path(arguments.against), Path(__file__).parents[1], arguments.repeats)
    else:
        chosen = tuple(case for case in CASES if arguments.only in (None, case.unit))
        if not chosen:
            known = ", ".join(sorted({case.unit for case in CASES}))
            parser.error(f"--only must be one of {known}, but got {arguments.only!r}")
        figures = measure(chosen, GROWTH if arguments.only is None else ())
    text = json.dumps(figures, indent=2)
    if arguments.json == "-":
        print(text)
    elif arguments.json:
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
